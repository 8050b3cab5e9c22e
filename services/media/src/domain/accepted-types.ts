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

/** The media types that are accepted, for the refusal of another one. */
export const ACCEPTED_TYPES: readonly string[] = [...KINDS.keys()];

/** The type that clients send when they do not know the type of a file. */
const UNKNOWN = "application/octet-stream";
/** Other names of accepted types that programs use. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/jfif", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["image/apng", "image/png"],
  ["image/x-bmp", "image/bmp"],
  ["image/x-ms-bmp", "image/bmp"],
  ["image/tif", "image/tiff"],
  ["image/x-tiff", "image/tiff"],
  ["video/x-m4v", "video/mp4"],
  ["video/mov", "video/quicktime"],
]);
/** Types by the ending of a file's name, for clients that do not know the type. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ...["jpg", "jpeg", "jpe", "jfif"].map((ending) => [ending, "image/jpeg"] as const),
  ["png", "image/png"],
  ["apng", "image/png"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["bmp", "image/bmp"],
  ["tif", "image/tiff"],
  ["tiff", "image/tiff"],
  ["heic", "image/heic"],
  ["heif", "image/heif"],
  ["mp4", "video/mp4"],
  ["m4v", "video/mp4"],
  ["mov", "video/quicktime"],
  ["qt", "video/quicktime"],
  ["webm", "video/webm"],
]);

/**
 * Normalises a media type for comparison: case, white space and parameters such as `charset=binary` do not matter, and another name
 * of an accepted type becomes this type.
 */
export function foldContentType(text: string): string {
  const type = (text.split(";", 1)[0] ?? "").trim().toLowerCase();
  return ALIASES.get(type) ?? type;
}

/** Returns the type that a client declares: if it does not know the type, that of the file's name. */
export function declaredType(contentType: string, fileName: string): string {
  const type = foldContentType(contentType);
  if (type !== UNKNOWN) return type;
  const ending = /\.([a-z0-9]+)$/i.exec(fileName.trim())?.[1] ?? "";
  return ENDINGS.get(ending.toLowerCase()) ?? type;
}

/** Whether the type of an upload agrees with the declared one. A client that does not know the type contradicts nothing. */
export function agreesWith(declared: string, sent: string): boolean {
  const type = foldContentType(sent);
  return type === "" || type === UNKNOWN || type === declared;
}

/** Returns whether a media type is an image or a video; undefined when the type is not accepted. */
export function kindOf(contentType: string): "image" | "video" | undefined {
  return KINDS.get(contentType);
}

/** Why a declared file is refused. */
interface DeclaredFault extends Pick<MediaViolation, "code" | "limit" | "actual" | "found"> {
  readonly path: string;
  readonly allowed?: string[];
}

/** Returns the reason for refusing the declared type and length of a file; undefined when both are accepted. */
export function checkDeclared(
  declared: { readonly contentType: string; readonly bytes: number },
  { maxImageBytes, maxVideoBytes }: SizeLimits,
): DeclaredFault | undefined {
  const kind = kindOf(declared.contentType);
  if (kind === undefined) {
    const { contentType: found } = declared;
    const allowed = [...ACCEPTED_TYPES];
    return { code: "media_type_unsupported", path: "/contentType", found, allowed };
  }
  const limit = kind === "image" ? maxImageBytes : maxVideoBytes;
  if (declared.bytes <= limit) return undefined;
  return { code: "media_too_large", path: "/bytes", limit, actual: declared.bytes };
}
