import type { MediaViolation } from "./inspected-media.ts";

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

export interface SizeLimits {
  readonly maxImageBytes: number;
  readonly maxVideoBytes: number;
}

export const ACCEPTED_TYPES: readonly string[] = [...KINDS.keys()];

/** What clients send when they do not know the type; the bytes of the file then say what it is. */
export const UNKNOWN_TYPE = "application/octet-stream";
/** The bytes decide what a file is, so another name of a type never lets in a file of another. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  // What browsers say about types that they do not know, for example HEIC.
  ["", UNKNOWN_TYPE],
  // The type of objects in S3 that were stored without one.
  ["binary/octet-stream", UNKNOWN_TYPE],
  ["application/binary", UNKNOWN_TYPE],
  ["application/x-binary", UNKNOWN_TYPE],
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/jfif", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["image/apng", "image/png"],
  ["image/x-bmp", "image/bmp"],
  ["image/x-ms-bmp", "image/bmp"],
  ["image/tif", "image/tiff"],
  ["image/x-tiff", "image/tiff"],
  ["image/heic-sequence", "image/heic"],
  ["image/heif-sequence", "image/heif"],
  ["video/m4v", "video/mp4"],
  ["video/x-m4v", "video/mp4"],
  ["application/mp4", "video/mp4"],
  ["video/mov", "video/quicktime"],
  ["video/x-quicktime", "video/quicktime"],
]);
/**
 * Makes media types comparable: case, white space, parameters and other names of a type do not
 * matter.
 */
export function foldContentType(text: string): string {
  const type = (text.split(";", 1)[0] ?? "").trim().toLowerCase();
  return ALIASES.get(type) ?? type;
}

/**
 * A client that does not know the type contradicts nothing. A form or JSON never agrees, because it
 * wraps the file.
 */
export function agreesWith(declared: string, sent: string): boolean {
  const type = foldContentType(sent);
  if (type === UNKNOWN_TYPE || type === declared) return true;
  return declared === UNKNOWN_TYPE && kindOf(type) !== undefined;
}

export function kindOf(contentType: string): "image" | "video" | undefined {
  return KINDS.get(contentType);
}

interface DeclaredFault extends Pick<MediaViolation, "code" | "limit" | "actual" | "found"> {
  readonly path: string;
  readonly allowed?: string[];
}

/**
 * Returns the reason for refusing the declared type and length of a file; undefined when both are
 * accepted. A file of unknown type may have the size of a video; when its bytes show that it is an
 * image, it must not be larger than images may be.
 */
export function checkDeclared(
  declared: { readonly contentType: string; readonly bytes: number },
  { maxImageBytes, maxVideoBytes }: SizeLimits,
): DeclaredFault | undefined {
  const { contentType: found } = declared;
  const kind = kindOf(found);
  if (kind === undefined && found !== UNKNOWN_TYPE) {
    const allowed = [...ACCEPTED_TYPES, UNKNOWN_TYPE];
    return { code: "media_type_unsupported", path: "/contentType", found, allowed };
  }
  const limit = kind === "image" ? maxImageBytes : maxVideoBytes;
  if (declared.bytes <= limit) return undefined;
  return { code: "media_too_large", path: "/bytes", limit, actual: declared.bytes };
}
