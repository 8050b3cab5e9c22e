import { Readable } from "node:stream";
import { createLogger } from "@postrider/shared/telemetry/logger";
import sharp, { type Sharp } from "sharp";
import { afterAll, expect, test } from "vitest";
import type { RenditionOutcome, RenditionPlan } from "#src/domain/rendition-plan.ts";
import { createFileInspector } from "#src/inspection/file-inspector.ts";
import { picture, similarity } from "./sample-pictures.ts";

const logger = createLogger({ service: "media", level: "silent" });
const limits = { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 };
const inspector = createFileInspector({ limits, logger });
afterAll(() => inspector[Symbol.asyncDispose]());

const PLAN: RenditionPlan = {
  contentType: "image/jpeg",
  width: 600,
  height: 400,
  fit: "scale",
  maxBytes: 8_000_000,
};
const PICTURE = { width: 1200, height: 800 };

async function render(file: Buffer, contentType: string, plans: readonly RenditionPlan[]) {
  const files: Buffer[] = [];
  const end = await inspector.render({
    contentType,
    plans,
    open: () => Readable.from([file]),
    receive: async (index, _rendered, content) => {
      files[index] = Buffer.concat(await Array.fromAsync(content));
    },
  });
  if (end.kind !== "rendered") throw new Error(end.kind);
  return { ...end, files };
}

/**
 * Makes one rendition and returns its file, after comparing the file with its reported properties.
 */
async function made(file: Buffer, contentType: string, change: Partial<RenditionPlan> = {}) {
  const plan = { ...PLAN, ...change };
  const { outcomes, files } = await render(file, contentType, [plan]);
  const [[outcome], [rendition]] = [outcomes, files];
  if (outcome?.kind !== "made" || rendition === undefined) throw new Error(JSON.stringify(outcome));
  const found = await sharp(rendition).metadata();
  expect({ format: `image/${found.format}`, width: found.width, height: found.height }).toEqual({
    format: outcome.contentType,
    width: outcome.width,
    height: outcome.height,
  });
  expect(outcome.bytes).toBe(rendition.length);
  expect(rendition.length).toBeLessThanOrEqual(plan.maxBytes);
  return { file: rendition, outcome, found };
}

/** Returns a picture as its viewers see it, in the size of the rendition. */
async function seen(size = { width: 600, height: 400 }, of: Sharp = picture(PICTURE)) {
  return await of.resize(size.width, size.height, { fit: "fill" }).png().toBuffer();
}

async function meanColour(file: Buffer): Promise<readonly number[]> {
  const { channels } = await sharp(await sharp(file).toColourspace("srgb").toBuffer()).stats();
  return channels.slice(0, 3).map(({ mean }) => mean);
}

const sources: readonly (readonly [string, string, () => Promise<Buffer>])[] = [
  ["a JPEG", "image/jpeg", () => picture(PICTURE).jpeg({ quality: 95 }).toBuffer()],
  [
    "a progressive JPEG",
    "image/jpeg",
    () => picture(PICTURE).jpeg({ progressive: true }).toBuffer(),
  ],
  ["a CMYK JPEG", "image/jpeg", () => picture(PICTURE).toColourspace("cmyk").jpeg().toBuffer()],
  [
    "a JPEG with a Display P3 profile",
    "image/jpeg",
    () => picture(PICTURE).withIccProfile("p3").jpeg({ quality: 95 }).toBuffer(),
  ],
  ["a PNG", "image/png", () => picture(PICTURE).png().toBuffer()],
  [
    "a PNG with 16 bits per channel",
    "image/png",
    () => picture(PICTURE).toColourspace("rgb16").png().toBuffer(),
  ],
  [
    "a PNG with a Display P3 profile",
    "image/png",
    () => picture(PICTURE).withIccProfile("p3").png().toBuffer(),
  ],
  [
    "an opaque PNG with an alpha channel",
    "image/png",
    () => picture(PICTURE).ensureAlpha().png().toBuffer(),
  ],
  ["a WebP", "image/webp", () => picture(PICTURE).webp({ quality: 95 }).toBuffer()],
  ["a TIFF", "image/tiff", () => picture(PICTURE).tiff({ compression: "lzw" }).toBuffer()],
];
test.each(sources)(
  "the rendition of %s looks like the original, is an sRGB JPEG with 8 bits and has no metadata",
  async (name, contentType, make) => {
    const file = await make();
    const rendition = await made(file, contentType);
    // CMYK has fewer colours than sRGB. The rendition is therefore compared with the CMYK file and
    // not with the original picture.
    const isCmyk = name === "a CMYK JPEG";
    const original = await (isCmyk
      ? seen(PLAN, sharp(await sharp(file).toColourspace("srgb").png().toBuffer()))
      : seen());

    expect(await similarity(rendition.file, original)).toBeGreaterThanOrEqual(0.95);
    const [mine, theirs] = [await meanColour(rendition.file), await meanColour(original)];
    for (const [index, mean] of mine.entries())
      expect(Math.abs(mean - (theirs[index] ?? 0))).toBeLessThan(1.5);
    const { space, depth, channels, icc, exif, xmp, iptc } = rendition.found;
    expect({ space, depth, channels, icc, exif, xmp, iptc }).toEqual({
      space: "srgb",
      depth: "uchar",
      channels: 3,
      icc: undefined,
      exif: undefined,
      xmp: undefined,
      iptc: undefined,
    });
  },
);

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "the rendition of a JPEG with the EXIF orientation %i is upright",
  async (orientation) => {
    const stored = await picture(PICTURE)
      .jpeg({ quality: 95 })
      .withMetadata({ orientation })
      .toBuffer();
    const upright = sharp(await sharp(stored).autoOrient().png().toBuffer());
    const { width, height } =
      orientation >= 5 ? { width: 400, height: 600 } : { width: 600, height: 400 };
    const rendition = await made(stored, "image/jpeg", { width, height });

    expect(rendition.outcome).toMatchObject({ width, height });
    expect(
      await similarity(rendition.file, await seen({ width, height }, upright)),
    ).toBeGreaterThan(0.97);
  },
);

test("the transparent parts of a PNG are white in a JPEG and stay transparent in a PNG", async () => {
  const hole = {
    create: { width: 1200, height: 800, channels: 4, background: "#ff000000" },
  } as const;
  const file = await sharp(hole).png().toBuffer();

  const jpeg = await made(file, "image/png");
  expect(await meanColour(jpeg.file)).toEqual([255, 255, 255]);
  const png = await made(file, "image/png", { contentType: "image/png" });
  expect((await sharp(png.file).stats()).isOpaque).toBe(false);
});

test("a padded rendition shows the whole picture between white bars, and a cropped one its centre", async () => {
  const file = await picture(PICTURE).jpeg({ quality: 95 }).toBuffer();
  const square = { width: 600, height: 600 };

  const padded = await made(file, "image/jpeg", { ...square, fit: "pad" });
  const bar = await sharp(padded.file)
    .extract({ left: 0, top: 0, width: 600, height: 90 })
    .toBuffer();
  for (const mean of await meanColour(bar)) expect(mean).toBeGreaterThan(253);
  const inner = await sharp(padded.file)
    .extract({ left: 0, top: 100, width: 600, height: 400 })
    .png()
    .toBuffer();
  expect(await similarity(inner, await seen())).toBeGreaterThan(0.95);

  const cropped = await made(file, "image/jpeg", { ...square, fit: "crop" });
  const centre = sharp(
    await picture(PICTURE).extract({ left: 200, top: 0, width: 800, height: 800 }).png().toBuffer(),
  );
  expect(await similarity(cropped.file, await seen(square, centre))).toBeGreaterThan(0.95);
});

test("a rotated picture is padded and cropped as viewers see it", async () => {
  const file = await picture(PICTURE)
    .jpeg({ quality: 95 })
    .withMetadata({ orientation: 6 })
    .toBuffer();
  const upright = await sharp(file).autoOrient().png().toBuffer();

  const padded = await made(file, "image/jpeg", { width: 600, height: 600, fit: "pad" });
  const inner = await sharp(padded.file)
    .extract({ left: 100, top: 0, width: 400, height: 600 })
    .png()
    .toBuffer();
  expect(
    await similarity(inner, await seen({ width: 400, height: 600 }, sharp(upright))),
  ).toBeGreaterThan(0.95);
  const cropped = await made(file, "image/jpeg", { width: 600, height: 600, fit: "crop" });
  const centre = sharp(
    await sharp(upright).extract({ left: 0, top: 200, width: 800, height: 800 }).png().toBuffer(),
  );
  expect(
    await similarity(cropped.file, await seen({ width: 600, height: 600 }, centre)),
  ).toBeGreaterThan(0.95);
});

test("a rendition that would exceed its maximum bytes first gets a lower quality, then smaller sides with the same aspect ratio", async () => {
  const file = await picture(PICTURE).jpeg({ quality: 95 }).toBuffer();
  const free = await made(file, "image/jpeg");
  const lower = await made(file, "image/jpeg", { maxBytes: free.outcome.bytes - 1 });
  expect(lower.outcome).toMatchObject({ width: 600, height: 400 });

  const small = await made(file, "image/jpeg", { maxBytes: 10_000 });
  expect(small.outcome.width).toBeLessThan(600);
  expect(small.outcome.bytes).toBeGreaterThan(5_000);
  expect(small.outcome.width / small.outcome.height).toBeCloseTo(1.5, 1);
  const png = await made(file, "image/jpeg", { contentType: "image/png", maxBytes: 100_000 });
  expect(png.outcome.bytes).toBeGreaterThan(50_000);
});

test("several renditions of an image are made together and are independent of each other", async () => {
  const file = await picture(PICTURE).jpeg({ quality: 95 }).toBuffer();
  const plans: RenditionPlan[] = [
    PLAN,
    { ...PLAN, width: 1200, height: 800 },
    { ...PLAN, contentType: "image/png", width: 60, height: 40 },
  ];
  const { outcomes, files } = await render(file, "image/jpeg", plans);

  expect(outcomes).toEqual(
    plans.map(({ contentType, width, height }, index) => ({
      kind: "made",
      contentType,
      width,
      height,
      bytes: files[index]?.length,
    })),
  );
  for (const [index, { width, height }] of plans.entries())
    expect(
      await similarity(files[index] ?? Buffer.alloc(0), await seen({ width, height })),
    ).toBeGreaterThan(0.95);
});

const frames = [
  await picture({ width: 60, height: 40 }).png().toBuffer(),
  await picture({ width: 60, height: 40 }).negate().png().toBuffer(),
];
const animation = () => sharp(frames, { join: { animated: true } });
const refused: readonly (readonly [string, string, () => Promise<Buffer>, RenditionOutcome])[] = [
  [
    "an animated GIF",
    "image/gif",
    () => animation().gif().toBuffer(),
    { kind: "refused", refusal: "animated" },
  ],
  [
    "an animated WebP",
    "image/webp",
    () => animation().webp().toBuffer(),
    { kind: "refused", refusal: "animated" },
  ],
  [
    "a truncated JPEG",
    "image/jpeg",
    async () => (await picture(PICTURE).jpeg().toBuffer()).subarray(0, 20_000),
    { kind: "refused", refusal: "unreadable" },
  ],
  [
    "a file that is not of its type",
    "image/png",
    () => picture(PICTURE).jpeg().toBuffer(),
    { kind: "refused", refusal: "unreadable" },
  ],
  [
    "an empty file",
    "image/jpeg",
    () => Promise.resolve(Buffer.alloc(0)),
    { kind: "refused", refusal: "unreadable" },
  ],
];
test.each(refused)(
  "no rendition is made of %s, and the reason is reported",
  async (_name, contentType, make, outcome) => {
    const { outcomes, files } = await render(await make(), contentType, [PLAN, PLAN]);

    expect(outcomes).toEqual([outcome, outcome]);
    expect(files).toEqual([]);
  },
);

test("a rendition is made of a GIF with one frame", async () => {
  const still = await sharp(frames[0]).gif().toBuffer();
  const { outcomes } = await render(still, "image/gif", [{ ...PLAN, width: 60, height: 40 }]);
  expect(outcomes).toMatchObject([{ kind: "made" }]);
});

/** Makes a BMP with 24 or 8 bits per pixel; one with 8 bits has a colour table of greys. */
async function bmp(depth: 24 | 8, isTopDown: boolean): Promise<Buffer> {
  const { width, height } = { width: 302, height: 201 };
  const image = depth === 24 ? picture({ width, height }) : picture({ width, height }).greyscale();
  const pixels = await image.raw().toBuffer();
  const channels = depth / 8;
  const tableBytes = depth === 8 ? 1024 : 0;
  const rowBytes = 4 * Math.ceil((width * channels) / 4);
  const file = Buffer.alloc(54 + tableBytes + rowBytes * height);
  file.write("BM", 0, "latin1");
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(54 + tableBytes, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(isTopDown ? -height : height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(depth, 28);
  for (let grey = 0; grey < tableBytes / 4; grey += 1)
    file.fill(Buffer.from([grey, grey, grey, 0]), 54 + 4 * grey, 58 + 4 * grey);
  for (let y = 0; y < height; y += 1) {
    const row = 54 + tableBytes + (isTopDown ? y : height - 1 - y) * rowBytes;
    for (let x = 0; x < width; x += 1)
      for (let channel = 0; channel < channels; channel += 1)
        file[row + x * channels + channel] =
          pixels[(y * width + x) * channels + channels - 1 - channel] ?? 0;
  }
  return file;
}

test.each([
  [24, false],
  [24, true],
  [8, false],
] as const)(
  "a BMP with %i bits per pixel is converted (rows stored from top to bottom: %s)",
  async (depth, isTopDown) => {
    const size = { width: 302, height: 201 };
    const original = depth === 24 ? picture(size) : picture(size).greyscale();
    const { file } = await made(await bmp(depth, isTopDown), "image/bmp", size);

    const seenBmp = await original.png().toBuffer();
    expect(await similarity(file, seenBmp)).toBeGreaterThan(0.95);
    const [mine, theirs] = [await meanColour(file), await meanColour(seenBmp)];
    for (const [index, mean] of mine.entries())
      expect(Math.abs(mean - (theirs[index] ?? mean))).toBeLessThan(2);
  },
);
