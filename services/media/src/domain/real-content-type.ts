/** The media type of a file whose first bytes match no known type. */
const UNKNOWN = "application/octet-stream";

/**
 * Media types that the library `file-type` finds, mapped to the accepted type as which they count: an animated PNG is a
 * PNG, and Apple's M4V is an MP4.
 */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["image/apng", "image/png"],
  ["video/x-m4v", "video/mp4"],
  ["video/matroska", "video/x-matroska"],
]);

/**
 * Returns the media type of a file by its first bytes. `guess` is the type that the library `file-type` finds. Only the
 * brand in the bytes decides between MP4 and QuickTime.
 */
export function realContentType(start: Uint8Array, guess: string | undefined): string {
  const type = guess === undefined ? UNKNOWN : (ALIASES.get(guess) ?? guess);
  if (type !== "video/mp4" && type !== "video/quicktime") return type;
  const text = Buffer.from(start).toString("latin1", 4, 12);
  // Video files older than QuickTime 7 have no brand, so a file without a brand is QuickTime.
  if (!text.startsWith("ftyp")) return "video/quicktime";
  return text.slice(4) === "qt  " ? "video/quicktime" : "video/mp4";
}
