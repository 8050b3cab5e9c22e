import type { Fetched } from "#src/http/fetch-media.ts";
import { refuse, refuseParameter } from "#src/tiktok/errors.ts";
import { receive } from "#src/world/received-media.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";

/** Names that belong to nobody (RFC 2606), so nobody can have proved to own them. */
const NOBODYS = /(?:^|\.)(?:test|invalid|example(?:\.com|\.net|\.org)?)$/;
const LOCAL = new Set(["127.0.0.1", "localhost", "[::1]"]);
const MAX_PHOTO_BYTES = 20_000_000;

/** Whether TikTok would fetch from there: an address whose owner proved to be ours, and https but on this machine. */
export function isVerified(url: unknown): url is string {
  if (typeof url !== "string" || !URL.canParse(url)) {
    return false;
  }
  const { protocol, hostname } = new URL(url);
  if (NOBODYS.test(hostname)) {
    return false;
  }
  return protocol === "https:" || (protocol === "http:" && LOCAL.has(hostname));
}

/** Refuses addresses that TikTok does not fetch from. */
export function checkAddresses(urls: readonly unknown[]): readonly string[] {
  return urls.map((url) => {
    if (typeof url !== "string" || !URL.canParse(url)) {
      return refuseParameter("An address of media is not valid.");
    }
    return isVerified(url) ? url : refuse("url_ownership_unverified");
  });
}

/** What came from the addresses, or why nothing becomes of it. */
export interface Pulled {
  readonly media: readonly ReceivedMedia[];
  readonly failReason: string | undefined;
}

type Checked = { readonly media: ReceivedMedia } | { readonly failReason: string };

function checkPhoto(file: Fetched | undefined): Checked {
  if (file?.kind !== "file") {
    return { failReason: "photo_pull_failed" };
  }
  const media = receive([file.bytes]);
  const isTaken = media?.contentType === "image/jpeg" || media?.contentType === "image/webp";
  if (media === undefined || !isTaken) {
    return { failReason: "file_format_check_failed" };
  }
  return media.bytes > MAX_PHOTO_BYTES ? { failReason: "picture_size_check_failed" } : { media };
}

function checkVideo(file: Fetched | undefined): Checked {
  if (file?.kind !== "file") {
    return { failReason: "video_pull_failed" };
  }
  const media = receive([file.bytes]);
  return media?.kind === "video" ? { media } : { failReason: "file_format_check_failed" };
}

/** Looks at what was fetched, in the order of the addresses. */
export function pulled(
  kind: "photo" | "video",
  urls: readonly string[],
  fetched: ReadonlyMap<string, Fetched>,
): Pulled {
  const check = kind === "photo" ? checkPhoto : checkVideo;
  const checked = urls.map((url) => check(fetched.get(url)));
  const wrong = checked.find((one) => "failReason" in one);
  return {
    media: checked.flatMap((one) => ("media" in one ? [one.media] : [])),
    failReason: wrong?.failReason,
  };
}
