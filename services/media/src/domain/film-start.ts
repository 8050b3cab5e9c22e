/** How many bytes tell whether a file begins like a film. */
export const FILM_START_BYTES = 12;

/** Boxes that MP4 and QuickTime files begin with. */
const FIRST_BOXES = new Set(["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot"]);

/** Brands of still pictures in the same boxes. */
const PICTURE_BRANDS = new Set(["avif", "avis", "heic", "heix", "heim", "heis", "mif1", "msf1"]);

/** What Matroska and WebM begin with (RFC 8794). */
const EBML = 0x1a_45_df_a3;

/**
 * Whether bytes begin like a film, so that as many may come as a film can have. What they really are, the check finds out.
 *
 * @param start The first `FILM_START_BYTES`, or all of them.
 */
export function beginsLikeFilm(start: Uint8Array): boolean {
  if (start.length < FILM_START_BYTES) return false;
  const view = new DataView(start.buffer, start.byteOffset, start.length);
  if (view.getUint32(0) === EBML) return true;
  const text = String.fromCharCode(...start.subarray(4, 12));
  return FIRST_BOXES.has(text.slice(0, 4)) && !PICTURE_BRANDS.has(text.slice(4));
}
