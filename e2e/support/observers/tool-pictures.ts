import sharp, { type Sharp } from "sharp";
import { rotation, sampleHeif } from "../../../services/media/test/sample-heif.ts";
import { picture } from "../../../services/media/test/sample-pictures.ts";

/** A picture as a phone or a program makes it. */
export interface ToolPicture {
  readonly name: string;
  readonly contentType: string;
  readonly make: () => Promise<Buffer>;
  /** Makes the picture that readers must see. Default: the file as the library sharp decodes it. */
  readonly seen?: () => Promise<Buffer>;
  /**
   * Platforms besides youtube that refuse the picture, each with the code and the limit of the
   * violation.
   */
  readonly refused?: Readonly<Record<string, string>>;
}

/** Numbers of tiles in a HEIC file of 12 megapixels, and in one of 3 megapixels. */
const GRID = { columns: 8, rows: 6 };
const SMALL_GRID = { columns: 4, rows: 3 };

let original: Promise<Buffer> | undefined;

/**
 * Returns a picture of this size. All are scaled from one picture, because computing its pixels
 * takes long.
 */
async function sized(width: number, height: number): Promise<Sharp> {
  original ??= picture({ width: 1344, height: 1008 }).png({ compressionLevel: 1 }).toBuffer();
  const resized = sharp(await original).resize(width, height, { fit: "fill" });
  const { data, info } = await resized.raw().toBuffer({ resolveWithObject: true });
  const { channels } = info;
  return sharp(data, { raw: { width, height, channels }, limitInputPixels: false });
}

/**
 * A JPEG as a phone that is held upright stores it: with EXIF orientation 6, which viewers must
 * apply.
 */
async function upright(): Promise<Buffer> {
  const place = { GPSLatitudeRef: "N", GPSLatitude: "52/1 31/1 12/1" };
  const image = (await sized(2592, 1944))
    .withExif({ IFD3: place })
    .withMetadata({ orientation: 6 });
  return await image.withExifMerge({ IFD3: place }).jpeg({ quality: 90 }).toBuffer();
}

/** The picture that a HEIC file of equal tiles contains, rotated clockwise by `angle` degrees. */
const tiles = (grid: typeof GRID, angle: number) => async () => {
  const tile = await picture({ width: 512, height: 512 }).png().toBuffer();
  const [width, height] = [512 * grid.columns, 512 * grid.rows];
  const sheet = sharp({ create: { width, height, channels: 3, background: "black" } });
  const all = await sheet
    .composite([{ input: tile, tile: true, gravity: "northwest" }])
    .tiff({ compression: "none" })
    .toBuffer();
  return await sharp(all).rotate(angle).tiff({ compression: "none" }).toBuffer();
};

/** A JPEG with the ratio 3:4. */
export async function portrait(): Promise<Buffer> {
  return await (await sized(1536, 2048)).jpeg({ quality: 90 }).toBuffer();
}

async function logo(): Promise<Buffer> {
  const circle = Buffer.from(
    '<svg width="1200" height="1200"><circle cx="600" cy="600" r="500"/></svg>',
  );
  const mask = await sharp(circle).png().toBuffer();
  const image = (await sized(1200, 1200)).ensureAlpha();
  return await sharp(await image.png().toBuffer())
    .composite([{ input: mask, blend: "dest-in" }])
    .png()
    .toBuffer();
}

/** Three frames of 480 x 360 pixels, one below the other. */
async function frames(): Promise<Sharp> {
  const [width, height, count] = [480, 360, 3];
  const data = await (await sized(width, height * count)).raw().toBuffer();
  return sharp(data, { raw: { width, height: height * count, channels: 3, pageHeight: height } });
}

const RATIO = "media_dimensions width / height 0.8–1.91";
const ANIMATION = "media_type_unsupported";

/**
 * Pictures as phones and programs make them. The tests of the media service render further kinds,
 * such as a progressive JPEG, a WebP, a TIFF and every EXIF orientation.
 */
export const TOOL_PICTURES: readonly ToolPicture[] = [
  {
    name: "a JPEG of 12 megapixels",
    contentType: "image/jpeg",
    make: async () => await (await sized(4032, 3024)).jpeg({ quality: 90 }).toBuffer(),
  },
  {
    name: "a JPEG of a phone held upright (EXIF orientation 6)",
    contentType: "image/jpeg",
    make: upright,
    refused: { instagram: RATIO },
  },
  {
    name: "a HEIC of 12 megapixels",
    contentType: "image/heic",
    make: () => Promise.resolve(sampleHeif(GRID)),
    seen: tiles(GRID, 0),
  },
  {
    name: "a rotated HEIC of 3 megapixels",
    contentType: "image/heic",
    make: () => Promise.resolve(sampleHeif({ ...SMALL_GRID, properties: [rotation(3)] })),
    seen: tiles(SMALL_GRID, 90),
    refused: { instagram: RATIO },
  },
  {
    name: "a grey JPEG of a scanner",
    contentType: "image/jpeg",
    make: async () => await (await sized(1700, 1300)).greyscale().jpeg({ quality: 90 }).toBuffer(),
  },
  {
    name: "a CMYK JPEG of a print tool",
    contentType: "image/jpeg",
    make: async () =>
      await (await sized(1800, 1200)).toColourspace("cmyk").jpeg({ quality: 92 }).toBuffer(),
  },
  {
    name: "a JPEG panorama of 40 megapixels",
    contentType: "image/jpeg",
    make: async () => await (await sized(11_500, 3480)).jpeg({ quality: 85 }).toBuffer(),
    refused: { instagram: RATIO },
  },
  {
    name: "a PNG with transparent parts",
    contentType: "image/png",
    make: logo,
  },
  {
    name: "a PNG screenshot of a phone",
    contentType: "image/png",
    make: async () => await (await sized(1170, 2532)).png().toBuffer(),
    refused: { instagram: RATIO },
  },
  {
    name: "an animated GIF",
    contentType: "image/gif",
    make: async () => await (await frames()).gif().toBuffer(),
    refused: { instagram: ANIMATION, facebook: ANIMATION, tiktok: ANIMATION, bluesky: ANIMATION },
  },
  {
    name: "an animated WebP",
    contentType: "image/webp",
    make: async () => await (await frames()).webp({ quality: 90 }).toBuffer(),
    refused: {
      instagram: ANIMATION,
      x: ANIMATION,
      facebook: ANIMATION,
      tiktok: ANIMATION,
      telegram: ANIMATION,
      bluesky: ANIMATION,
    },
  },
];
