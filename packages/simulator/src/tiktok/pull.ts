import type { Fetched } from "#src/http/fetch-media.ts";
import { refuse, refuseParameter } from "#src/tiktok/errors.ts";
import { AVC, HEVC, videoFault } from "#src/world/mp4.ts";
import { receive, type ReceivedMedia } from "#src/world/received-media.ts";

/**
 * "Video restrictions" of TikTok's media transfer guide: H.264, H.265, VP8 or VP9, 23 to 60 frames
 * per second.
 */
const LIMITS = { video: [...AVC, ...HEVC, "vp08", "vp09"], minFps: 23, maxFps: 60 };

export function videoFailReason(received: ReceivedMedia | undefined): string | undefined {
  if (received?.kind !== "video") return "file_format_check_failed";
  const fault = videoFault(received, LIMITS);
  if (fault === undefined) return undefined;
  return fault === "frame_rate" ? "frame_rate_check_failed" : "file_format_check_failed";
}

/**
 * Domain names reserved by RFC 2606. Such a domain has no owner, so TikTok cannot verify its
 * ownership.
 */
const RESERVED_DOMAIN = /(?:^|\.)(?:test|invalid|example(?:\.com|\.net|\.org)?)$/;
const LOCAL_HOSTS = new Set(["127.0.0.1", "localhost", "[::1]"]);
const MAX_PHOTO_BYTES = 20_000_000;
/**
 * Maximum length in pixels of a photo's shorter side ("up to 1080p"). TikTok fails larger photos
 * with `picture_size_check_failed` (Postiz #1875, 2026-08-11).
 */
const MAX_SHORT_SIDE = 1080;
const MAX_LONG_SIDE = 1920;

function isPhotoTooLarge({ bytes, width = 0, height = 0 }: ReceivedMedia): boolean {
  return (
    bytes > MAX_PHOTO_BYTES ||
    Math.min(width, height) > MAX_SHORT_SIDE ||
    Math.max(width, height) > MAX_LONG_SIDE
  );
}

/** The domain must have an owner, and the URL must use https unless its host is this machine. */
export function isVerified(url: unknown): url is string {
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  if (parsed === null) return false;
  const { protocol, hostname } = parsed;
  if (RESERVED_DOMAIN.test(hostname)) return false;
  return protocol === "https:" || (protocol === "http:" && LOCAL_HOSTS.has(hostname));
}

export function checkMediaUrls(urls: readonly unknown[]): readonly string[] {
  return urls.map((url) => {
    if (typeof url !== "string" || URL.parse(url) === null)
      return refuseParameter("A media URL is not valid.");
    return isVerified(url) ? url : refuse("url_ownership_unverified");
  });
}

interface FetchedMedia {
  readonly media: readonly ReceivedMedia[];
  readonly failReason: string | undefined;
}

type Checked = { readonly media: ReceivedMedia } | { readonly failReason: string };

function checkPhoto(file: Fetched | undefined): Checked {
  if (file?.kind !== "file") return { failReason: "photo_pull_failed" };
  const media = receive([file.bytes]);
  const isTaken = media?.contentType === "image/jpeg" || media?.contentType === "image/webp";
  if (media === undefined || !isTaken) return { failReason: "file_format_check_failed" };
  return isPhotoTooLarge(media) ? { failReason: "picture_size_check_failed" } : { media };
}

function checkVideo(file: Fetched | undefined): Checked {
  if (file?.kind !== "file") return { failReason: "video_pull_failed" };
  const media = receive([file.bytes]);
  const failReason = videoFailReason(media);
  return media === undefined || failReason !== undefined
    ? { failReason: failReason ?? "file_format_check_failed" }
    : { media };
}

export function checkFetchedMedia(
  kind: "photo" | "video",
  urls: readonly string[],
  fetched: ReadonlyMap<string, Fetched>,
): FetchedMedia {
  const check = kind === "photo" ? checkPhoto : checkVideo;
  const checked = urls.map((url) => check(fetched.get(url)));
  const wrong = checked.find((one) => "failReason" in one);
  return {
    media: checked.flatMap((one) => ("media" in one ? [one.media] : [])),
    failReason: wrong?.failReason,
  };
}
