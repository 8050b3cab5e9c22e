/**
 * A range with its first and last byte, both inclusive. Without a last byte it extends to the end of the file; without
 * a first byte it is a number of bytes at the end.
 */
const SINGLE = /^bytes=(\d{0,15})-(\d{0,15})$/i;

/**
 * The single range of a `Range` header. Undefined when the whole file is to be sent: without a header, and for several
 * ranges, another unit or a malformed value, which a server may ignore (RFC 9110, section 14.2).
 */
export function parseRange(header: string | undefined): string | undefined {
  const [, first = "", last = ""] = SINGLE.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const isReversed = first !== "" && last !== "" && Number(last) < Number(first);
  return isReversed ? undefined : `bytes=${first}-${last}`;
}
