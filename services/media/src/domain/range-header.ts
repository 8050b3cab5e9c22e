export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

const ONE_RANGE = /^bytes=[\t ]*(\d*)-(\d*)[\t ]*$/i;

/**
 * Parses a `Range` header; undefined for the whole object: no header, or one that RFC 9110 lets a
 * server ignore.
 */
export function parseRangeHeader(
  header: string | undefined,
  total: number,
): ByteRange | "unsatisfiable" | undefined {
  const match = header === undefined ? null : ONE_RANGE.exec(header);
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first !== "")
    return fromStart(Number(first), last === "" ? Number.POSITIVE_INFINITY : Number(last), total);
  return last === "" ? undefined : fromEnd(Number(last), total);
}

function fromStart(
  start: number,
  end: number,
  total: number,
): ByteRange | "unsatisfiable" | undefined {
  if (end < start) return undefined;
  if (start >= total) return "unsatisfiable";
  return { start, length: Math.min(end, total - 1) - start + 1 };
}

function fromEnd(count: number, total: number): ByteRange | "unsatisfiable" {
  if (count === 0) return "unsatisfiable";
  const length = Math.min(count, total);
  return { start: total - length, length };
}
