const MAX_CHARACTERS = 255;

/** What has no place in the name of a file, whatever the address says. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}/\\]/gu;

/**
 * The name of what an address leads to: its last path segment, decoded, without what would make it a path or several
 * lines or turn its end around, at most 255 characters; `file` when the address ends in none.
 */
export function fileNameOf(url: string): string {
  const segments = URL.parse(url)?.pathname.split("/") ?? [];
  const segment = segments.findLast((part) => part !== "") ?? "";
  const characters = Array.from(decode(segment).replaceAll(FORBIDDEN, "_"));
  const name = characters.slice(0, MAX_CHARACTERS).join("");
  return name.trim() === "" ? "file" : name;
}

/** A segment that is not percent-encoded UTF-8 is taken as it stands. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
