import { readFileSync } from "node:fs";
import { ascii, box, u32 } from "@postrider/local/demo/sample-mp4";

/** Reads a file of `test/heif`. */
export function heifFile(name: "tile" | "ten-bits" | "alpha"): Buffer {
  return readFileSync(new URL(`heif/${name}.heic`, import.meta.url));
}

const TILE = 512;

export interface SampleHeif {
  /** Number of columns and of rows of tiles in the HEIC's grid. Each tile has 512 × 512 pixels. */
  readonly columns: number;
  readonly rows: number;
  /** Size of the grid as the HEIC states it; by default the size of its tiles together. */
  readonly width: number;
  readonly height: number;
  /**
   * The HEIC's properties that change how the grid is shown, in this order; `rotation`, `mirror`,
   * `crop` and `profile` create them.
   */
  readonly properties: readonly Buffer[];
  readonly majorBrand: string;
  readonly brands: readonly string[];
  /** The compressed image of the tile that every place of the grid shows. */
  readonly tile: Buffer;
  /**
   * Ids of the HEIF items that the grid names as its tiles; by default the ids of its tiles, which
   * begin with 2.
   */
  readonly references: readonly number[];
}

/** Returns the HEIF property that rotates a picture by a number of quarter turns to the left. */
export const rotation = (quarters: number): Buffer => box("irot", Buffer.from([quarters]));
/**
 * Returns the HEIF property that mirrors a picture: top and bottom for `vertical`, left and right
 * for `horizontal`.
 */
export const mirror = (direction: "vertical" | "horizontal"): Buffer =>
  box("imir", Buffer.from([direction === "vertical" ? 0 : 1]));
/** Returns the HEIF property that shows only the centre of a picture, in the given size. */
export const crop = (width: number, height: number): Buffer =>
  box("clap", u32(width, 1, height, 1, 0, 1, 0, 1));
export const profile = (icc: Uint8Array): Buffer => box("colr", ascii("prof"), icc);
/**
 * Returns the HEIF property that names a colour space by the number of its primaries (ITU-T H.273):
 * 12 is Display P3.
 */
export const primaries = (number: number): Buffer =>
  box("colr", ascii("nclx"), u16(number, 13, 6), Buffer.from([0x80]));

/**
 * Makes a HEIC as phones make it: a grid of tiles, here the same tile at each place, with
 * properties that rotate, mirror or crop the picture.
 */
export function sampleHeif(options: Partial<SampleHeif> = {}): Buffer {
  const { columns = 2, rows = 1, properties = [], majorBrand = "heic" } = options;
  const { width = columns * TILE, height = rows * TILE, brands = ["mif1", "heic"] } = options;
  const { config, data } = readTile();
  const tile = options.tile ?? data;
  const ids = Array.from({ length: columns * rows }, (_, index) => index + 2);
  const references = options.references ?? ids;
  const shared = [config, sizeBox(TILE, TILE), sizeBox(width, height)];
  const own = properties.map((_, index) => shared.length + 1 + index);
  const grid = Buffer.concat([Buffer.from([0, 1, rows - 1, columns - 1]), u32(width, height)]);
  const build = (dataAt: number) =>
    Buffer.concat([
      box("ftyp", ascii(majorBrand), u32(0), ...brands.map(ascii)),
      fullBox(
        "meta",
        0,
        fullBox("hdlr", 0, u32(0), ascii("pict"), u32(0, 0, 0), Buffer.from([0])),
        fullBox("pitm", 0, u16(1)),
        locations(ids, { gridBytes: grid.length, dataAt, dataBytes: tile.length }),
        fullBox(
          "iinf",
          0,
          u16(ids.length + 1),
          item(1, "grid"),
          ...ids.map((id) => item(id, "hvc1")),
        ),
        fullBox("iref", 0, box("dimg", u16(1, references.length, ...references))),
        box(
          "iprp",
          box("ipco", ...shared, ...properties),
          fullBox(
            "ipma",
            0,
            u32(ids.length + 1),
            associations(1, [3, ...own]),
            ...ids.map((id) => associations(id, [1, 2])),
          ),
        ),
        box("idat", grid),
      ),
    ]);
  const head = build(build(0).length + 8);
  return Buffer.concat([head, box("mdat", tile)]);
}

function readTile(): { readonly config: Buffer; readonly data: Buffer } {
  const file = heifFile("tile");
  const at = file.indexOf("hvcC") - 4;
  const mdat = file.indexOf("mdat") + 4;
  return { config: file.subarray(at, at + file.readUInt32BE(at)), data: file.subarray(mdat) };
}

function locations(
  ids: readonly number[],
  { gridBytes, dataAt, dataBytes }: { gridBytes: number; dataAt: number; dataBytes: number },
): Buffer {
  // The data of the grid lie in the box `idat` of the HEIC (construction method 1). Every tile
  // refers to the same part of the file.
  const entry = (id: number, method: number, offset: number, length: number) =>
    Buffer.concat([u16(id, method, 0, 1), u32(offset, length)]);
  return fullBox(
    "iloc",
    1,
    Buffer.from([0x44, 0]),
    u16(ids.length + 1),
    entry(1, 1, 0, gridBytes),
    ...ids.map((id) => entry(id, 0, dataAt, dataBytes)),
  );
}

function item(id: number, type: string): Buffer {
  return fullBox("infe", 2, u16(id, 0), ascii(type), Buffer.from([0]));
}

function associations(id: number, properties: readonly number[]): Buffer {
  return Buffer.concat([
    u16(id),
    Buffer.from([properties.length, ...properties.map((one) => 0x80 | one)]),
  ]);
}

function sizeBox(width: number, height: number): Buffer {
  return fullBox("ispe", 0, u32(width, height));
}

function fullBox(type: string, version: number, ...payload: readonly Uint8Array[]): Buffer {
  return box(type, u32(version << 24), ...payload);
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index);
  return bytes;
}
