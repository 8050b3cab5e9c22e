/** In characters. The REST API has the same limit; the longest ids are Bluesky's. */
const MAX_MEDIA_ID_LENGTH = 512;

/** Counted in Unicode code points, as JSON Schema counts them. */
export function isAtMost(text: string, max: number): boolean {
  // A character outside the Basic Multilingual Plane has two UTF-16 code units, so a text with at
  // most `max` code units need not be counted.
  return text.length <= max || (text.length <= 2 * max && Array.from(text).length <= max);
}

export function isMediaId(text: string): boolean {
  return text !== "" && isAtMost(text, MAX_MEDIA_ID_LENGTH);
}
