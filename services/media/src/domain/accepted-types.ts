import type { MediaViolation } from "./inspected-media.ts";

/** The media types that the media service accepts, and whether each is an image or a video. */
const KINDS: ReadonlyMap<string, "image" | "video"> = new Map([
  ["image/jpeg", "image"],
  ["image/png", "image"],
  ["image/gif", "image"],
  ["image/webp", "image"],
  ["image/bmp", "image"],
  ["image/tiff", "image"],
  ["image/heic", "image"],
  ["image/heif", "image"],
  ["video/mp4", "video"],
  ["video/quicktime", "video"],
  ["video/webm", "video"],
]);

/** Maximum sizes of images and videos, which the operator sets. */
export interface SizeLimits {
  readonly maxImageBytes: number;
  readonly maxVideoBytes: number;
}

/** Normalises a media type for comparison: case and surrounding white space do not matter. */
export function foldContentType(text: string): string {
  return text.trim().toLowerCase();
}

/** Returns whether a media type is an image or a video; undefined when the type is not accepted. */
export function kindOf(contentType: string): "image" | "video" | undefined {
  return KINDS.get(contentType);
}

/** Returns the reason for refusing the declared type and length of a file; undefined when both are accepted. */
export function checkDeclared(
  declared: { readonly contentType: string; readonly bytes: number },
  { maxImageBytes, maxVideoBytes }: SizeLimits,
): (Pick<MediaViolation, "code" | "limit" | "actual"> & { readonly path: string }) | undefined {
  const kind = kindOf(declared.contentType);
  if (kind === undefined) return { code: "media_type_unsupported", path: "/contentType" };
  const limit = kind === "image" ? maxImageBytes : maxVideoBytes;
  if (declared.bytes <= limit) return undefined;
  return { code: "media_too_large", path: "/bytes", limit, actual: declared.bytes };
}
