const MARK = /^\ufeff/;
const COMMENTS = /^(?:\s*(?:<\?xml[^>]*>|<!--[^]*?-->|<!doctype\s+svg[^>]*>))*\s*/i;
const PAGE = /^<(?:!doctype\s+html|html|head|body|script)\b/i;
const SVG = /^<svg\b/i;
const JSON_START = /^(?:\{\s*["}]|\[\s*[{["\]])/;

/** Recognises texts that are often taken for an image or video. */
export function textTypeOf(
  start: Uint8Array,
): "text/html" | "image/svg+xml" | "application/json" | undefined {
  const text = Buffer.from(start).toString("utf8").replace(MARK, "").replace(COMMENTS, "");
  if (PAGE.test(text)) return "text/html";
  if (SVG.test(text)) return "image/svg+xml";
  return JSON_START.test(text) ? "application/json" : undefined;
}

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

/** Recognises the type by the brands in the first box. */
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

export const VIDEO_START_BYTES = 12;

const FIRST_BOXES = new Set(["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot"]);

/** Images that have the box structure of MP4. */
const IMAGE_BRANDS = new Set([
  "avif",
  "avis",
  "heic",
  "heix",
  "heim",
  "heis",
  "mif1",
  "mif2",
  "msf1",
]);

const EBML = 0x1a_45_df_a3;

/**
 * So the size limit of videos applies to a download; the inspection later finds the real type.
 * `start`: the first `VIDEO_START_BYTES`, or the whole file when it is shorter.
 */
export function startsLikeVideo(start: Uint8Array): boolean {
  if (start.length < VIDEO_START_BYTES) return false;
  const view = new DataView(start.buffer, start.byteOffset, start.length);
  if (view.getUint32(0) === EBML) return true;
  const text = String.fromCharCode(...start.subarray(4, 12));
  return FIRST_BOXES.has(text.slice(0, 4)) && !IMAGE_BRANDS.has(text.slice(4));
}
