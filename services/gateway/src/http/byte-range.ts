/** First to last, both included; without the last it goes to the end; without the first it is that many at the end. */
const SINGLE = /^bytes=(\d{0,15})-(\d{0,15})$/i;

/**
 * The one range that a `Range` header asks for, in the form that our own services read; undefined when the whole file is
 * to be sent: no header, several ranges, another unit, or what is no range (RFC 9110, section 14.2, lets us ignore it).
 */
export function parseRange(header: string | undefined): string | undefined {
  const [, first = "", last = ""] = SINGLE.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const isReversed = first !== "" && last !== "" && Number(last) < Number(first);
  return isReversed ? undefined : `bytes=${first}-${last}`;
}
