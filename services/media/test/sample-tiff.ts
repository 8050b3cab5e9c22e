/** An entry of a TIFF directory; `value` is a 32-bit number or the offset of the value's bytes. */
interface TiffEntry {
  readonly tag: number;
  readonly value: number;
  readonly count?: number;
  readonly type?: number;
}

/**
 * Returns a TIFF directory of a page or of EXIF data. `next` is the offset of the next directory,
 * or 0.
 */
export function directory(next: number, entries: readonly TiffEntry[]): Buffer {
  const bytes = Buffer.alloc(2 + 12 * entries.length + 4);
  bytes.writeUInt16LE(entries.length, 0);
  entries.forEach(({ tag, value, count = 1, type = 4 }, index) => {
    bytes.writeUInt16LE(tag, 2 + 12 * index);
    bytes.writeUInt16LE(type, 4 + 12 * index);
    bytes.writeUInt32LE(count, 6 + 12 * index);
    bytes.writeUInt32LE(value, 10 + 12 * index);
  });
  bytes.writeUInt32LE(next, bytes.length - 4);
  return bytes;
}

/** Returns the TIFF entries of a grey image whose only strip has 64 bytes at offset 8. */
export function tiffEntries(size: number, compression = 1): TiffEntry[] {
  return [
    { tag: 256, value: size },
    { tag: 257, value: size },
    { tag: 258, value: 8 },
    { tag: 259, value: compression },
    { tag: 262, value: 1 },
    { tag: 273, value: 8 },
    { tag: 277, value: 1 },
    { tag: 278, value: size },
    { tag: 279, value: 64 },
  ];
}

/** Returns a TIFF file whose first part is the first directory. */
export function tiff(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from("II*\0\x08\0\0\0", "latin1"), ...parts]);
}
