const MAX_CHARACTERS = 255;

/** Characters that are replaced in file names: controls, line breaks, bidirectional controls and path separators. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}/\\]/gu;

/**
 * Returns the file name for a URL: the last path segment, decoded and without forbidden characters, at most 255
 * characters long. The name is `file` when the path is empty.
 */
export function fileNameOf(url: string): string {
  const segments = URL.parse(url)?.pathname.split("/") ?? [];
  const segment = segments.findLast((part) => part !== "") ?? "";
  const characters = Array.from(decode(segment).replaceAll(FORBIDDEN, "_"));
  const name = characters.slice(0, MAX_CHARACTERS).join("");
  return name.trim() === "" ? "file" : name;
}

/** Decodes a path segment of a URL; a segment that is not percent-encoded UTF-8 is returned unchanged. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
