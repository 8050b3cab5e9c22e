export type ImagePart = { readonly start: number; readonly end: number } | Uint8Array;

export interface ImageLayout {
  readonly width: number;
  readonly height: number;
  /** For a TIFF, its pages. */
  readonly frames: number;
  readonly totalPixels: number;
  /** Memory that a decoder needs to hold the image; 0 when it decodes row by row. */
  readonly decodeBytes: number;
  /** A rotated copy of a lossless image must be lossless, too. */
  readonly lossless: boolean;
  /** Whether there is data about a person, place or device, or there are bytes after the image. */
  readonly hasMetadata: boolean;
  /** The file without metadata. An EXIF orientation other than 1 is kept as the only EXIF tag. */
  readonly withoutMetadata: (orientation: number) => readonly ImagePart[];
}

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

/** Zeros are ignored because some cameras pad files with them. */
export function hasTrailingBytes(file: Buffer, start: number): boolean {
  for (let at = start; at < file.length; at += 1) if (file[at] !== 0) return true;
  return false;
}
