export interface TiffLayout {
  readonly width: number;
  readonly height: number;
  readonly samples: 3 | 4;
  readonly orientation: number;
  readonly profile: Uint8Array;
}

const SHORT = 3;
const LONG = 4;
const UNDEFINED = 7;
const ENTRY_BYTES = 12;
/** Few, because readers keep a whole strip in memory. */
const ROWS_PER_STRIP = 16;

interface Entry {
  readonly tag: number;
  readonly type: number;
  readonly values: Uint8Array;
}

export function createTiffHeader(layout: TiffLayout): Buffer {
  const { width, height, samples, orientation, profile } = layout;
  const rowBytes = width * samples;
  const strips = Math.ceil(height / ROWS_PER_STRIP);
  const lengths = Array.from(
    { length: strips },
    (_, strip) => rowBytes * Math.min(ROWS_PER_STRIP, height - strip * ROWS_PER_STRIP),
  );
  const at = (start: number) =>
    lengths.map((_, strip) => start + strip * ROWS_PER_STRIP * rowBytes);
  const build = (start: number) =>
    join([
      { tag: 256, type: LONG, values: longs([width]) },
      { tag: 257, type: LONG, values: longs([height]) },
      { tag: 258, type: SHORT, values: shorts(Array<number>(samples).fill(8)) },
      { tag: 259, type: SHORT, values: shorts([1]) },
      { tag: 262, type: SHORT, values: shorts([2]) },
      { tag: 273, type: LONG, values: longs(at(start)) },
      { tag: 274, type: SHORT, values: shorts([orientation]) },
      { tag: 277, type: SHORT, values: shorts([samples]) },
      { tag: 278, type: LONG, values: longs([ROWS_PER_STRIP]) },
      { tag: 279, type: LONG, values: longs(lengths) },
      { tag: 284, type: SHORT, values: shorts([1]) },
      ...(samples === 4 ? [{ tag: 338, type: SHORT, values: shorts([2]) }] : []),
      ...(profile.length === 0 ? [] : [{ tag: 34_675, type: UNDEFINED, values: profile }]),
    ]);
  // The first call only measures the header, whose length does not depend on the offset.
  return build(build(0).length);
}

const VALUE_BYTES: Readonly<Record<number, number>> = { [SHORT]: 2, [LONG]: 4, [UNDEFINED]: 1 };

function join(entries: readonly Entry[]): Buffer {
  const directory = Buffer.alloc(8 + 2 + entries.length * ENTRY_BYTES + 4);
  directory.write("II*\0", 0, "latin1");
  directory.writeUInt32LE(8, 4);
  directory.writeUInt16LE(entries.length, 8);
  const long: Uint8Array[] = [];
  let end = directory.length;
  for (const [index, { tag, type, values }] of entries.entries()) {
    const at = 10 + index * ENTRY_BYTES;
    directory.writeUInt16LE(tag, at);
    directory.writeUInt16LE(type, at + 2);
    directory.writeUInt32LE(values.length / (VALUE_BYTES[type] ?? 1), at + 4);
    if (values.length <= 4) {
      directory.set(values, at + 8);
      continue;
    }
    directory.writeUInt32LE(end, at + 8);
    // In a TIFF, values outside of the directory begin at even offsets.
    long.push(values, new Uint8Array(values.length & 1));
    end += values.length + (values.length & 1);
  }
  return Buffer.concat([directory, ...long]);
}

function shorts(values: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index);
  return bytes;
}

function longs(values: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index);
  return bytes;
}
