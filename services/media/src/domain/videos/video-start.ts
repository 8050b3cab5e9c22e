/** Number of bytes at the start of a file by which `startsLikeVideo` recognises a video. */
export const VIDEO_START_BYTES = 12;

/** Types that the first box of an MP4 or QuickTime file may have. */
const FIRST_BOXES = new Set(["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot"]);

/** Brands of image files (such as AVIF and HEIC) that have the same box structure as MP4 files. */
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

/** The first four bytes of Matroska and WebM files (RFC 8794). */
const EBML = 0x1a_45_df_a3;

/**
 * Whether a download starts like a video, so that the size limit of videos applies to it. The inspection later finds
 * the real type.
 *
 * @param start The first `VIDEO_START_BYTES` of the file, or the whole file when it is shorter.
 */
export function startsLikeVideo(start: Uint8Array): boolean {
  if (start.length < VIDEO_START_BYTES) return false;
  const view = new DataView(start.buffer, start.byteOffset, start.length);
  if (view.getUint32(0) === EBML) return true;
  const text = String.fromCharCode(...start.subarray(4, 12));
  return FIRST_BOXES.has(text.slice(0, 4)) && !IMAGE_BRANDS.has(text.slice(4));
}
