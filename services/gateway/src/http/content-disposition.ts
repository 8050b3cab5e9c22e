const NOT_PLAIN = /[^ !#$&+\-.^_`|~0-9A-Za-z()[\]{}@,;=']/g;
/** What `encodeURIComponent` leaves as it is although RFC 8187 does not. */
const NOT_ATTR_CHAR = /['()*]/g;
/** Separators of folders, and what a file system, a shell or a reader could take for something else: no name needs them. */
const UNSAFE = /[\\/:*?"<>|\p{Cc}\p{Cf}\u2028\u2029]/gu;
const MAX_LENGTH = 150;

/**
 * `inline` with a name to save the file under (RFC 6266): in ASCII for old readers, and in full. The name is a client's
 * text, so nothing in it may end the header, name a folder, hide the file or turn its extension around.
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

/** By characters, not by halves of them; the end of a name is its extension and stays. */
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
