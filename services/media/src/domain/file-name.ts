const MAX_CHARACTERS = 255;

/** Characters that are replaced: controls, line breaks, bidirectional controls and path separators. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}/\\]/gu;

/**
 * The file name for a URL: its last path segment, decoded and without forbidden characters, at most 255 characters long;
 * `file` when the path is empty.
 */
export function fileNameOf(url: string): string {
  const segments = URL.parse(url)?.pathname.split("/") ?? [];
  const segment = segments.findLast((part) => part !== "") ?? "";
  const characters = Array.from(decode(segment).replaceAll(FORBIDDEN, "_"));
  const name = characters.slice(0, MAX_CHARACTERS).join("");
  return name.trim() === "" ? "file" : name;
}

/** Returns a segment unchanged when it is not percent-encoded UTF-8. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
