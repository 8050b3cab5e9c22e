import { textTypeOf } from "#src/domain/text-type.ts";

const UNKNOWN = "application/octet-stream";

/** What `file-type` finds, and the accepted type as which it counts. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["image/apng", "image/png"],
  ["video/x-m4v", "video/mp4"],
  ["video/matroska", "video/x-matroska"],
]);

/** HEVC-compressed images (ISO/IEC 23008-12, annex B.4). */
const HEIC_BRANDS = new Set(["heic", "heix", "heim", "heis"]);
const HEIF_BRANDS = new Set(["mif1", "mif2"]);
const AVIF_BRANDS = new Set(["avif", "avis"]);

/** Files of either type may be named `.heic` or `.heif`. */
export function isHeif(contentType: string): boolean {
  return contentType === "image/heic" || contentType === "image/heif";
}

/** By the brands in the first box. */
function heifType(start: Uint8Array): string | undefined {
  const text = Buffer.from(start).toString("latin1");
  if (start.length < 16 || text.slice(4, 8) !== "ftyp") return undefined;
  const length = Math.min(Buffer.from(start).readUInt32BE(0), start.length);
  const major = text.slice(8, 12);
  if (!HEIC_BRANDS.has(major) && !HEIF_BRANDS.has(major)) return undefined;
  const brands = new Set([major]);
  for (let at = 16; at + 4 <= length; at += 4) brands.add(text.slice(at, at + 4));
  if (!brands.isDisjointFrom(AVIF_BRANDS)) return "image/avif";
  return brands.isDisjointFrom(HEIC_BRANDS) ? "image/heif" : "image/heic";
}

/**
 * `file-type` does not find a TIFF whose directory lies behind the first bytes, where most programs
 * write it.
 */
function isTiff(start: Uint8Array): boolean {
  const signature = Buffer.from(start).toString("latin1", 0, 4);
  return signature === "II*\0" || signature === "MM\0*";
}

/**
 * `guess` is what `file-type` finds. The brand decides between MP4 and QuickTime, and between HEIC,
 * HEIF and AVIF.
 */
export function realContentType(start: Uint8Array, guess: string | undefined): string {
  const heif = heifType(start);
  if (heif !== undefined) return heif;
  // `file-type` knows XML in general, and no HTML and JSON.
  if (guess === undefined || guess === "application/xml")
    return isTiff(start) ? "image/tiff" : (textTypeOf(start) ?? guess ?? UNKNOWN);
  const type = ALIASES.get(guess) ?? guess;
  return type === "video/mp4" || type === "video/quicktime" ? movieType(start) : type;
}

function movieType(start: Uint8Array): "video/mp4" | "video/quicktime" {
  const text = Buffer.from(start).toString("latin1", 4, 12);
  // Files older than QuickTime 7 have no brand.
  if (!text.startsWith("ftyp")) return "video/quicktime";
  return text.slice(4) === "qt  " ? "video/quicktime" : "video/mp4";
}
