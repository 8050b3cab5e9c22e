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
