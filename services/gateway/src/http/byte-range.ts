/**
 * Matches a `Range` header with a single range: the first and the last byte, both inclusive.
 * Without a last byte, the range extends to the end of the file. Without a first byte, the number
 * is the length of a range at the end of the file.
 */
const SINGLE = /^bytes=(\d{0,15})-(\d{0,15})$/i;

/**
 * Returns the single range of a `Range` header. Returns undefined when the whole file is to be
 * sent: without the header, and for several ranges, another unit or a malformed value, which a
 * server may ignore (RFC 9110, section 14.2).
 */
export function parseRange(header: string | undefined): string | undefined {
  const [, first = "", last = ""] = SINGLE.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const isReversed = first !== "" && last !== "" && Number(last) < Number(first);
  return isReversed ? undefined : `bytes=${first}-${last}`;
}
