import type { PlatformId } from "@postrider/client";

/** Where a reader looks whether a post is on an account. */
export function profileUrlOf(platform: PlatformId, username: string): string {
  const name = encodeURIComponent(username.replace(/^@/, ""));
  const pages: Readonly<Record<PlatformId, string>> = {
    instagram: `https://www.instagram.com/${name}/`,
    x: `https://x.com/${name}`,
    facebook: "https://www.facebook.com/pages/?category=your_pages",
    tiktok: `https://www.tiktok.com/@${name}`,
    youtube: "https://studio.youtube.com/",
    telegram: "https://web.telegram.org/",
    bluesky: `https://bsky.app/profile/${name}`,
  };
  return pages[platform];
}
