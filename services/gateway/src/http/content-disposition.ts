const NOT_PLAIN = /[^ !#$&+\-.^_`|~0-9A-Za-z()[\]{}@,;=']/g;
/** Characters that `encodeURIComponent` keeps but RFC 8187 requires to be encoded. */
const NOT_ATTR_CHAR = /['()*]/g;
/**
 * Characters that are replaced in file names: path separators, control characters, and characters
 * with a meaning for file systems or shells.
 */
const UNSAFE = /[\\/:*?"<>|\p{Cc}\p{Cf}\u2028\u2029]/gu;
const MAX_LENGTH = 150;

/**
 * Returns the header value `inline` with a file name (RFC 6266): in ASCII for old clients, and in
 * full if it is not ASCII. The file name comes from a client, so it must not end the header, name a
 * folder, hide the file or disguise its extension.
 */
export function toContentDisposition(fileName: string): string {
  const name = safeName(fileName);
  const plain = name.replaceAll(NOT_PLAIN, "_");
  const quoted = `inline; filename="${plain}"`;
  return plain === name ? quoted : `${quoted}; filename*=UTF-8''${encode(name)}`;
}

function safeName(fileName: string): string {
  const name = fileName
    .toWellFormed()
    .replaceAll(UNSAFE, "_")
    .replace(/^[.\s]+/, "")
    .trim();
  return name === "" ? "file" : shorten(name);
}

/**
 * Shortens a file name between characters, never inside of a surrogate pair, and keeps its
 * extension.
 */
function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= MAX_LENGTH) return name;
  const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? "";
  return characters.slice(0, MAX_LENGTH - extension.length).join("") + extension;
}

function encode(name: string): string {
  return encodeURIComponent(name).replaceAll(
    NOT_ATTR_CHAR,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
