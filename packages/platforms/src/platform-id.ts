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

export function isPlatformId(value: unknown): value is PlatformId {
  return PLATFORM_IDS.some((id) => id === value);
}
