/** What a file is whose first bytes say nothing. */
const UNKNOWN = "application/octet-stream";

/** Other names that `file-type` has for what we take: an animated PNG is a PNG, and Apple's M4V is an MP4. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["image/apng", "image/png"],
  ["video/x-m4v", "video/mp4"],
  ["video/matroska", "video/x-matroska"],
]);

/**
 * The media type of a file by its first bytes. `guess` is what `file-type` says of them; the brands of an ISO base media
 * file are read here, because they alone decide between MP4 and QuickTime.
 */
export function realContentType(head: Uint8Array, guess: string | undefined): string {
  const type = guess === undefined ? UNKNOWN : (ALIASES.get(guess) ?? guess);
  if (type !== "video/mp4" && type !== "video/quicktime") return type;
  const text = Buffer.from(head).toString("latin1", 4, 12);
  // Films from before QuickTime 7 have no brand.
  if (!text.startsWith("ftyp")) return "video/quicktime";
  return text.slice(4) === "qt  " ? "video/quicktime" : "video/mp4";
}
