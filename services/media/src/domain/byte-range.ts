/** A part of `total` bytes, in whole bytes from `start`. */
export interface Part {
  readonly start: number;
  readonly length: number;
}

const ONE_RANGE = /^bytes=[\t ]*(\d*)-(\d*)[\t ]*$/i;

/**
 * Which part a `Range` header asks for. Undefined = the whole: there is no header, or one that RFC 9110 lets us pass over
 * (another unit, several ranges, malformed).
 */
export function parseRange(
  header: string | undefined,
  total: number,
): Part | "unsatisfiable" | undefined {
  const match = header === undefined ? null : ONE_RANGE.exec(header);
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first !== "")
    return fromStart(Number(first), last === "" ? Number.POSITIVE_INFINITY : Number(last), total);
  return last === "" ? undefined : fromEnd(Number(last), total);
}

function fromStart(start: number, end: number, total: number): Part | "unsatisfiable" | undefined {
  if (end < start) return undefined;
  if (start >= total) return "unsatisfiable";
  return { start, length: Math.min(end, total - 1) - start + 1 };
}

function fromEnd(count: number, total: number): Part | "unsatisfiable" {
  if (count === 0) return "unsatisfiable";
  const length = Math.min(count, total);
  return { start: total - length, length };
}
