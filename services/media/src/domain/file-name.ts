const MAX_CHARACTERS = 255;

const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}/\\]/gu;

/** The last path segment of a URL, decoded, at most 255 characters; `file` when it is empty. */
export function fileNameOf(url: string): string {
  const segments = URL.parse(url)?.pathname.split("/") ?? [];
  const segment = segments.findLast((part) => part !== "") ?? "";
  const characters = Array.from(decode(segment).replaceAll(FORBIDDEN, "_"));
  const name = characters.slice(0, MAX_CHARACTERS).join("");
  return name.trim() === "" ? "file" : name;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
