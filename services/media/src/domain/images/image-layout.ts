/** A part of the image file to write: a range of bytes of the source file, or inserted bytes. */
export type ImagePart = { readonly start: number; readonly end: number } | Uint8Array;

/** Properties of an image file that are known from its structure, before any pixel is decoded. */
export interface ImageLayout {
  /** Width of the image's canvas in pixels as stored, before rotation. */
  readonly width: number;
  readonly height: number;
  /** Number of frames of an animation, or of pages of a TIFF. */
  readonly frames: number;
  /** Number of pixels of all frames of the image together. */
  readonly totalPixels: number;
  /** Number of bytes of memory that a decoder needs to hold the image; 0 when it decodes the image row by row. */
  readonly decodeBytes: number;
  /** Whether the image is encoded without loss. A rotated copy of a lossless image must be lossless, too. */
  readonly lossless: boolean;
  /** Whether the image file contains data about a person, place or device, or bytes after the image. */
  readonly hasMetadata: boolean;
  /**
   * Returns the parts of the image file without metadata and with unchanged image data. An EXIF orientation other than
   * 1 is kept as the only EXIF tag.
   */
  readonly withoutMetadata: (orientation: number) => readonly ImagePart[];
}

/** Returns an EXIF block (TIFF structure) that contains only the orientation. */
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

/**
 * Whether an image file has a byte other than zero from `start` on. Zeros are ignored because some cameras pad files
 * with them.
 */
export function hasTrailingBytes(file: Buffer, start: number): boolean {
  for (let at = start; at < file.length; at += 1) if (file[at] !== 0) return true;
  return false;
}
