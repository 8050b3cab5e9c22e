import type { MediaViolation } from "#src/domain/checked-media.ts";

/** What may be uploaded, and as what it is treated. */
const KINDS: ReadonlyMap<string, "image" | "video"> = new Map([
  ["image/jpeg", "image"],
  ["image/png", "image"],
  ["image/gif", "image"],
  ["image/webp", "image"],
  ["image/bmp", "image"],
  ["image/tiff", "image"],
  ["video/mp4", "video"],
  ["video/quicktime", "video"],
  ["video/webm", "video"],
]);

/** The operator's limits in bytes. */
export interface SizeLimits {
  readonly maxImageBytes: number;
  readonly maxVideoBytes: number;
}

/** A media type as it is compared: types are the same in any case and with any white space around. */
export function foldContentType(text: string): string {
  return text.trim().toLowerCase();
}

/** `image` or `video`; undefined for a type that is not accepted. */
export function kindOf(contentType: string): "image" | "video" | undefined {
  return KINDS.get(contentType);
}

/** Why so many bytes of that type are not taken; undefined when they are. */
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
