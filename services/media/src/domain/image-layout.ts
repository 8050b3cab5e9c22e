/** A part of the source file, or bytes that are put in. */
export type Piece = { readonly start: number; readonly end: number } | Uint8Array;

/** What the structure of an image file says, before anything is decoded. */
export interface ImageLayout {
  /** Pixels of the canvas as stored, before rotation. */
  readonly width: number;
  readonly height: number;
  /** Frames of an animation, pages of a TIFF. */
  readonly frames: number;
  /** Pixels of all frames together, as the decoder makes them. */
  readonly totalPixels: number;
  /** Bytes that a decoder must hold at once, beyond some rows. */
  readonly decodeBytes: number;
  /** Whether the picture is coded without loss, so that a copy must be too. */
  readonly lossless: boolean;
  /** Whether it holds what says something of the person, the place or the device, or bytes behind the image. */
  readonly hasMetadata: boolean;
  /**
   * The same file without metadata, picture bytes untouched. With an orientation other than 1 it keeps that and nothing
   * else of its EXIF.
   */
  readonly withoutMetadata: (orientation: number) => readonly Piece[];
}

/** An EXIF block (TIFF structure) that says the orientation and nothing else. */
export function orientationExif(orientation: number): Uint8Array {
  const exif = Buffer.alloc(26);
  exif.write("MM\0*", 0, "latin1");
  exif.writeUInt32BE(8, 4);
  exif.writeUInt16BE(1, 8);
  exif.writeUInt16BE(0x0112, 10);
  exif.writeUInt16BE(3, 12);
  exif.writeUInt32BE(1, 14);
  exif.writeUInt16BE(orientation, 18);
  return exif;
}

/** Whether anything but zeros stands from `start` on: some cameras fill up with zeros. */
export function hasBytesBehind(file: Buffer, start: number): boolean {
  for (let at = start; at < file.length; at += 1) if (file[at] !== 0) return true;
  return false;
}
