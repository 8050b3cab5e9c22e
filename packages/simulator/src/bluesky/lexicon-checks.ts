import { refuseInput } from "#src/bluesky/errors.ts";

export const POST_COLLECTION = "app.bsky.feed.post";

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });

export function invalid(what: string, path: string): never {
  return refuseInput(`Invalid ${POST_COLLECTION} record: ${what} at $.${path}`);
}

function graphemes(text: string): number {
  let count = 0;
  for (const _segment of SEGMENTER.segment(text)) count += 1;

  return count;
}

export function checkText(
  value: unknown,
  path: string,
  maxGraphemes: number,
  maxBytes: number,
): void {
  if (typeof value !== "string")
    return invalid(`expected string value type (got ${typeof value})`, path);

  const bytes = Buffer.byteLength(value, "utf8");
  if (bytes > maxBytes) return invalid(`string too big (maximum ${maxBytes}, got ${bytes})`, path);

  // A text never has more grapheme clusters than UTF-16 units. A text with few enough UTF-16 units
  // therefore needs no segmentation into grapheme clusters.
  const count = value.length > maxGraphemes ? graphemes(value) : 0;
  if (count > maxGraphemes)
    invalid(`grapheme too big (maximum ${maxGraphemes}, got ${count})`, path);
}

export function checkList(value: unknown, path: string, max: number): readonly unknown[] {
  if (value === undefined) return [];

  if (!Array.isArray(value)) return invalid("expected array value type", path);

  return value.length > max
    ? invalid(`array too big (maximum ${max}, got ${value.length})`, path)
    : value;
}
