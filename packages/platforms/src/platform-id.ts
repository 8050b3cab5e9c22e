/** The ids of all platforms, in the order in which the API lists them. */
export const PLATFORM_IDS = [
  "instagram",
  "x",
  "facebook",
  "tiktok",
  "youtube",
  "telegram",
  "bluesky",
] as const;

/** The id of a platform in the REST API, in messages and in database columns. */
export type PlatformId = (typeof PLATFORM_IDS)[number];

export function isPlatformId(text: string): text is PlatformId {
  return PLATFORM_IDS.some((id) => id === text);
}
