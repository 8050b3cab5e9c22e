export const PLATFORM_IDS = [
  "instagram",
  "x",
  "facebook",
  "tiktok",
  "youtube",
  "telegram",
  "bluesky",
] as const;

export type PlatformId = (typeof PLATFORM_IDS)[number];

export function isPlatformId(text: string): text is PlatformId {
  return PLATFORM_IDS.some((id) => id === text);
}
