import { mkdtempSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@postrider/shared/telemetry/logger";
import sharp, { type Sharp } from "sharp";
import { afterAll, expect, test } from "vitest";
import type { InspectionResult } from "#src/domain/inspected-media.ts";
import { createFileInspector } from "#src/inspection/file-inspector.ts";
import {
  crop,
  heifFile,
  mirror,
  primaries,
  profile,
  rotation,
  sampleHeif,
  type SampleHeif,
} from "./sample-heif.ts";
import { picture, similarity } from "./sample-pictures.ts";

const folder = mkdtempSync(join(tmpdir(), "postrider-heif-"));
const logger = createLogger({ service: "media", level: "silent" });
const limits = { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 };
const inspector = createFileInspector({ limits, logger });
let files = 0;

afterAll(async () => {
  await inspector[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function inspect(bytes: Uint8Array, contentType = "image/heic"): Promise<InspectionResult> {
  files += 1;
  const path = join(folder, String(files));
  await writeFile(path, bytes);
  return await inspector.inspect(path, { contentType, bytes: bytes.length });
}

/** Inspects a HEIC and returns what was found, and the file that platforms receive. */
async function accepted(bytes: Uint8Array, contentType?: string) {
  const result = await inspect(bytes, contentType);
  if (result.kind !== "accepted" || result.media.delivery.kind !== "rewritten")
    throw new Error(JSON.stringify(result));
  const file = await readFile(result.media.delivery.path);
  return { media: result.media, delivery: result.media.delivery, file };
}

const grid = (options: Partial<SampleHeif> = {}) => sampleHeif({ columns: 2, rows: 1, ...options });

/**
 * Returns the picture of the HEIC that the tests use: a grid with the same tile twice, side by
 * side.
 */
async function seen(): Promise<Sharp> {
  const tile = await picture({ width: 512, height: 512 }).png().toBuffer();
  const both = sharp({ create: { width: 1024, height: 512, channels: 3, background: "black" } });
  const places = [0, 512].map((left) => ({ input: tile, left, top: 0 }));
  return sharp(await both.composite(places).png().toBuffer());
}

test("platforms receive a HEIC as a JPEG in full size without metadata that looks like the original", async () => {
  const { media, delivery, file } = await accepted(heifFile("tile"));

  expect(media).toMatchObject({
    kind: "image",
    contentType: "image/heic",
    width: 512,
    height: 512,
    frames: 1,
  });
  expect(delivery).toMatchObject({ contentType: "image/jpeg", bytes: file.length });
  const { format, space, exif, icc, width, height } = await sharp(file).metadata();
  expect({ format, space, exif, icc, width, height }).toEqual({
    format: "jpeg",
    space: "srgb",
    exif: undefined,
    icc: undefined,
    width: 512,
    height: 512,
  });
  const original = await picture({ width: 512, height: 512 }).png().toBuffer();
  expect(await similarity(file, original)).toBeGreaterThan(0.93);
});

test("the inspection assembles a HEIC from its tiles", async () => {
  const { media, file } = await accepted(grid());

  expect([media.width, media.height]).toEqual([1024, 512]);
  expect(await similarity(file, await (await seen()).png().toBuffer())).toBeGreaterThan(0.93);
});

type Edit = (image: Sharp) => Sharp;
const transformations: readonly (readonly [string, readonly Buffer[], readonly Edit[]])[] = [
  ["rotates it to the left", [rotation(1)], [(image) => image.rotate(270)]],
  ["rotates it by 180 degrees", [rotation(2)], [(image) => image.rotate(180)]],
  ["rotates it to the right", [rotation(3)], [(image) => image.rotate(90)]],
  ["mirrors top and bottom", [mirror("vertical")], [(image) => image.flip()]],
  ["mirrors left and right", [mirror("horizontal")], [(image) => image.flop()]],
  [
    "rotates and then mirrors it",
    [rotation(3), mirror("horizontal")],
    [(image) => image.rotate(90), (image) => image.flop()],
  ],
  [
    "mirrors and then rotates it",
    [mirror("vertical"), rotation(1)],
    [(image) => image.flip(), (image) => image.rotate(270)],
  ],
  [
    "shows only its centre and rotates it",
    [crop(700, 300), rotation(3)],
    [
      (image) => image.extract({ left: 162, top: 106, width: 700, height: 300 }),
      (image) => image.rotate(90),
    ],
  ],
];
test.each(transformations)(
  "platforms receive the upright picture of a HEIC whose file %s",
  async (_name, properties, edits) => {
    let original = await seen();
    for (const edit of edits) original = sharp(await edit(original).png().toBuffer());
    const expected = await original.png().toBuffer();
    const { width, height } = await sharp(expected).metadata();

    const { media, file } = await accepted(grid({ properties }));
    expect([media.width, media.height]).toEqual([width, height]);
    expect(await similarity(file, expected)).toBeGreaterThan(0.93);
  },
);

/** Mean of the red channel, which differs most between Display P3 and sRGB. */
async function meanRed(file: Buffer): Promise<number> {
  return (await sharp(file).stats()).channels[0]?.mean ?? 0;
}

test("the colours of Display P3 are converted to sRGB, whether the HEIC contains the profile or names it", async () => {
  const { icc } = await sharp(
    await picture({ width: 8, height: 8 }).withIccProfile("p3").png().toBuffer(),
  ).metadata();
  if (icc === undefined) throw new Error("no profile");
  const plain = await meanRed((await accepted(grid())).file);

  const contained = await meanRed((await accepted(grid({ properties: [profile(icc)] }))).file);
  const named = await meanRed((await accepted(grid({ properties: [primaries(12)] }))).file);
  expect(contained - plain).toBeGreaterThan(2);
  expect(Math.abs(contained - named)).toBeLessThan(0.5);
  const standard = await meanRed((await accepted(grid({ properties: [primaries(1)] }))).file);
  expect(Math.abs(standard - plain)).toBeLessThan(0.5);
});

test("a HEIC with 10 bits per channel becomes a JPEG with 8 bits per channel", async () => {
  const { file } = await accepted(heifFile("ten-bits"));

  expect(await sharp(file).metadata()).toMatchObject({ depth: "uchar", width: 256, height: 192 });
  const original = await picture({ width: 256, height: 192 }).png().toBuffer();
  expect(await similarity(file, original)).toBeGreaterThan(0.9);
});

test("the transparent parts of a HEIC become white", async () => {
  const { file } = await accepted(heifFile("alpha"));

  const right = sharp(file).extract({ left: 136, top: 0, width: 120, height: 192 });
  const { channels } = await sharp(await right.toBuffer()).stats();
  for (const { mean } of channels) expect(mean).toBeGreaterThan(250);
});

test.each([
  ["heic", ["mif1", "heic"], "image/heic"],
  ["heix", ["mif1", "heix"], "image/heic"],
  ["mif1", ["mif1", "heic"], "image/heic"],
  ["mif1", ["mif1"], "image/heif"],
])(
  "a file with the brand %s and the compatible brands %j has the media type %s, whether the client declared HEIC or HEIF",
  async (majorBrand, brands, contentType) => {
    for (const declared of ["image/heic", "image/heif"])
      expect((await accepted(grid({ majorBrand, brands }), declared)).media.contentType).toBe(
        contentType,
      );
  },
);

test("an AVIF is not accepted, even when it claims to be a HEIF", async () => {
  for (const brands of [
    ["avif", "mif1"],
    ["mif1", "avif"],
  ])
    expect(await inspect(grid({ majorBrand: brands[0] ?? "", brands }))).toMatchObject({
      kind: "rejected",
      violation: { code: "media_type_unsupported", found: "image/avif" },
    });
});

test("the inspection of a HEIC of 12 megapixels stays within its limits on memory and time", async () => {
  const { media } = await accepted(
    grid({ columns: 8, rows: 6, width: 4032, height: 3024, properties: [rotation(3)] }),
  );

  expect([media.width, media.height]).toEqual([3024, 4032]);
});

test("a HEIC of 48 megapixels that has to be rotated keeps its orientation as the only EXIF tag", async () => {
  const { media, file } = await accepted(
    grid({ columns: 16, rows: 12, width: 8064, height: 6048, properties: [rotation(3)] }),
  );

  expect([media.width, media.height]).toEqual([6048, 8064]);
  expect(await sharp(file).metadata()).toMatchObject({ width: 8064, height: 6048, orientation: 6 });
});
