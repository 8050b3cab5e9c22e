import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { access, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jpegSegment, pngChunk, sampleJpeg, samplePng } from "@postrider/local/demo/sample-media";
import { box, ascii, sampleMp4, u32 } from "@postrider/local/demo/sample-mp4";
import { createLogger } from "@postrider/shared/telemetry/logger";
import sharp, { type Sharp } from "sharp";
import { afterAll, expect, test } from "vitest";
import { orientationExif } from "#src/domain/images/image-layout.ts";
import type {
  InspectedMedia,
  InspectionResult,
  DeclaredFile,
} from "#src/domain/inspected-media.ts";
import { patchBytes } from "#src/domain/patched-bytes.ts";
import { createFileInspector } from "#src/inspection/file-inspector.ts";
import { directory, tiff, tiffEntries } from "./sample-tiff.ts";
import { float, ID, sampleWebm, tags, text, unsigned } from "./sample-webm.ts";

const folder = mkdtempSync(join(tmpdir(), "postrider-inspection-"));
const logger = createLogger({ service: "media", level: "silent" });
const limits = { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 };
const inspector = createFileInspector({ limits, logger });
let files = 0;

afterAll(async () => {
  await inspector[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function write(bytes: Uint8Array): Promise<string> {
  files += 1;
  const path = join(folder, String(files));
  await writeFile(path, bytes);
  return path;
}

async function inspect(
  bytes: Uint8Array,
  declared?: string | DeclaredFile,
): Promise<InspectionResult> {
  const expected =
    typeof declared === "string" ? { contentType: declared, bytes: bytes.length } : declared;
  return await inspector.inspect(await write(bytes), expected);
}

async function accepted(bytes: Uint8Array, declared?: string): Promise<InspectedMedia> {
  const result = await inspect(bytes, declared);
  if (result.kind !== "accepted") throw new Error(JSON.stringify(result));
  return result.media;
}

/**
 * Returns the file that platforms receive, after comparing it with the hash and length of the
 * inspection's result.
 */
async function delivered(bytes: Uint8Array, { delivery }: InspectedMedia): Promise<Buffer> {
  if (delivery.kind === "same") return Buffer.from(bytes);
  const made =
    delivery.kind === "rewritten"
      ? await readFile(delivery.path)
      : Buffer.concat(await Array.fromAsync(patchBytes(chunks(bytes), 0, delivery.patches)));
  expect(sha256(made)).toBe(delivery.sha256);
  expect(made.length).toBe(delivery.kind === "rewritten" ? delivery.bytes : bytes.length);
  return made;
}

/** Yields the bytes in small chunks, so that patches cross chunk borders. */
async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const image = () => sharp(samplePng({ width: 96, height: 64 }));
const WITH_GPS = {
  exif: {
    IFD0: { Make: "Camera", Artist: "Ada Lovelace" },
    IFD3: { GPSLatitudeRef: "N", GPSLatitude: "52/1 31/1 12/1" },
  },
};

const cleanImages: readonly (readonly [string, () => Sharp])[] = [
  ["image/jpeg", () => image().jpeg()],
  ["image/png", () => image().png()],
  ["image/gif", () => image().gif()],
  ["image/webp", () => image().webp()],
  ["image/webp", () => image().webp({ lossless: true })],
  ["image/tiff", () => image().tiff({ compression: "lzw" })],
];
test.each(cleanImages)(
  "inspection leaves a file of type %s without metadata unchanged",
  async (contentType, make) => {
    const bytes = await make().toBuffer();
    const media = {
      kind: "image",
      contentType,
      bytes: bytes.length,
      sha256: sha256(bytes),
      width: 96,
      height: 64,
      durationMs: null,
      frames: 1,
      delivery: { kind: "same" },
    };

    expect(await inspect(bytes, contentType)).toEqual({ kind: "accepted", media });
    expect(await inspect(bytes)).toEqual({ kind: "accepted", media });
  },
);

test("inspection leaves the sample media files of the local development stack unchanged", async () => {
  expect(await accepted(sampleJpeg(), "image/jpeg")).toMatchObject({ delivery: { kind: "same" } });
  expect(await accepted(samplePng(), "image/png")).toMatchObject({ delivery: { kind: "same" } });
  expect(await accepted(sampleMp4(), "video/mp4")).toMatchObject({ delivery: { kind: "same" } });
});

test("inspection reads a BMP to its last pixel and rejects a truncated BMP", async () => {
  const bytes = Buffer.alloc(54 + 8 * 2);
  bytes.write("BM", 0, "latin1");
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(2, 18);
  bytes.writeInt32LE(-2, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);

  expect(await accepted(bytes, "image/bmp")).toMatchObject({ width: 2, height: 2 });
  expect(await inspect(bytes.subarray(0, -1), "image/bmp")).toMatchObject({ kind: "rejected" });
});

const orientations = [1, 2, 3, 4, 5, 6, 7, 8];
const formats: readonly (readonly [string, (image: Sharp) => Sharp])[] = [
  ["image/jpeg", (image) => image.jpeg({ quality: 100 })],
  ["image/png", (image) => image.png()],
  ["image/webp", (image) => image.webp({ lossless: true })],
  ["image/tiff", (image) => image.tiff({ compression: "lzw" })],
];
const rotatedImages = formats.flatMap(([contentType, encode]) =>
  orientations.map((orientation) => ({ contentType, encode, orientation })),
);
test.each(rotatedImages)(
  "inspection makes an image of type $contentType with EXIF orientation $orientation upright and removes its EXIF",
  async ({ contentType, encode, orientation }) => {
    const bytes = await encode(image().withExif(WITH_GPS.exif).withMetadata({ orientation }))
      .withExifMerge(WITH_GPS.exif)
      .toBuffer();
    const media = await accepted(bytes, contentType);
    const made = await delivered(bytes, media);
    const { exif, orientation: left, width, height, format } = await sharp(made).metadata();

    expect({ exif, left: left ?? 1, width, height, type: `image/${format}` }).toEqual({
      exif: undefined,
      left: 1,
      width: orientation > 4 ? 64 : 96,
      height: orientation > 4 ? 96 : 64,
      type: contentType,
    });
    expect([media.width, media.height]).toEqual([width, height]);
    expect(made.includes("Ada Lovelace")).toBe(false);
    expect(await distance(made, bytes)).toBeLessThan(contentType === "image/jpeg" ? 2 : 0.01);
  },
);

/** Returns the mean difference between the samples of two images after their EXIF rotation. */
async function distance(a: Uint8Array, b: Uint8Array): Promise<number> {
  const [left, right] = await Promise.all(
    [a, b].map((bytes) => sharp(bytes).autoOrient().removeAlpha().raw().toBuffer()),
  );
  if (left === undefined || left.length !== right?.length) return Number.POSITIVE_INFINITY;
  const sum = left.reduce((total, value, at) => total + Math.abs(value - (right[at] ?? 0)), 0);
  return sum / left.length;
}

test("inspection removes the metadata of an upright JPEG and does not change its image data", async () => {
  const jpeg = await image().withExif(WITH_GPS.exif).withIccProfile("p3").jpeg().toBuffer();
  const xmp = jpegSegment(0xe1, ascii("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>Ada</x:xmpmeta>"));
  const iptc = jpegSegment(0xed, ascii("Photoshop 3.0\x008BIM\x04\x04\0\0Ada"));
  const bytes = Buffer.concat([jpeg.subarray(0, 2), xmp, iptc, jpeg.subarray(2)]);
  const made = await delivered(bytes, await accepted(bytes, "image/jpeg"));
  const { exif, xmp: leftXmp, iptc: leftIptc, icc } = await sharp(made).metadata();

  expect({ exif, leftXmp, leftIptc }).toEqual({});
  expect(icc).toEqual((await sharp(jpeg).metadata()).icc);
  const scan = bytes.indexOf(Buffer.from([0xff, 0xda]));
  expect(made.subarray(-(bytes.length - scan))).toEqual(bytes.subarray(scan));
  expect(await accepted(made, "image/jpeg")).toMatchObject({ delivery: { kind: "same" } });
});

/**
 * Returns a JPEG with this EXIF orientation. The library sharp would convert a CMYK image when it
 * writes the tag.
 */
function turned(jpeg: Buffer, orientation: number): Buffer {
  const exif = Buffer.concat([ascii("Exif\0\0"), orientationExif(orientation)]);
  return Buffer.concat([jpeg.subarray(0, 2), jpegSegment(0xe1, exif), jpeg.subarray(2)]);
}

test("inspection accepts a TIFF whose directory lies behind its pixels", async () => {
  const bytes = await image().tiff({ compression: "none" }).toBuffer();
  expect(bytes.readUInt32LE(4)).toBeGreaterThan(8192);
  expect(await accepted(bytes, "image/tiff")).toMatchObject({ width: 96, height: 64 });
});

test.each([
  ["JPEG", "image/jpeg", 1, (image: Sharp) => image.jpeg({ quality: 95 })],
  ["JPEG with EXIF orientation 6", "image/jpeg", 6, (image: Sharp) => image.jpeg({ quality: 95 })],
  ["TIFF", "image/tiff", 1, (image: Sharp) => image.tiff({ compression: "lzw" })],
] as const)(
  "inspection converts a CMYK %s to sRGB, because platforms show CMYK in wrong colours",
  async (_name, contentType, orientation, encode) => {
    const upright = await encode(image().toColourspace("cmyk")).toBuffer();
    const bytes = orientation === 1 ? upright : turned(upright, orientation);
    expect(await sharp(bytes).metadata()).toMatchObject({
      space: "cmyk",
      ...(orientation === 1 ? {} : { orientation }),
    });
    const made = await delivered(bytes, await accepted(bytes, contentType));
    const { space, channels, icc, exif } = await sharp(made).metadata();

    expect({ space, channels, icc, exif }).toEqual({ space: "srgb", channels: 3 });
    const seen = await sharp(bytes).autoOrient().toColourspace("srgb").png().toBuffer();
    expect(await distance(made, seen)).toBeLessThan(2);
  },
);

test("inspection zeroes the personal tags of a TIFF and keeps its image", async () => {
  const entries = tiffEntries(8).map((entry) =>
    entry.tag === 273 ? { ...entry, value: 8 + 200 } : entry,
  );
  const gps = 8 + directory(0, entries).length + 24;
  const named = [
    ...entries,
    { tag: 315, value: gps + 30, count: 13, type: 2 },
    { tag: 34853, value: gps },
  ].sort((a, b) => a.tag - b.tag);
  const place = directory(0, [{ tag: 29, value: gps + 18, count: 11, type: 2 }]);
  const head = tiff(directory(0, named), place, ascii("2026:11:21\0"));
  const bytes = Buffer.concat([head, Buffer.alloc(208 - head.length), Buffer.alloc(64, 77)]);
  bytes.write("Ada Lovelace\0", gps + 30, "latin1");
  const media = await accepted(bytes, "image/tiff");
  const made = await delivered(bytes, media);

  expect([bytes.includes("Ada"), bytes.includes("2026:11:21")]).toEqual([true, true]);
  expect([made.includes("Ada"), made.includes("2026:11:21")]).toEqual([false, false]);
  expect(await distance(made, bytes)).toBe(0);
  expect(await accepted(made, "image/tiff")).toMatchObject({ delivery: { kind: "same" } });
});

test("inspection removes the text chunks of a PNG, except a chunk that only names the program that wrote the file", async () => {
  const png = Buffer.from(samplePng({ width: 8, height: 8 }));
  const withText = (words: string) =>
    Buffer.concat([png.subarray(0, 33), pngChunk("tEXt", ascii(words)), png.subarray(33)]);

  const personal = withText("Author\0Ada");
  expect(await delivered(personal, await accepted(personal, "image/png"))).toEqual(png);
  expect(await accepted(withText("Software\0Paint"), "image/png")).toMatchObject({
    delivery: { kind: "same" },
  });
});

test("the inspection of an image too large to rotate in memory keeps the orientation as the only EXIF tag", async () => {
  const large = sharp({
    create: { width: 8000, height: 6000, channels: 3, background: "teal" },
    limitInputPixels: false,
  });
  const bytes = await large
    .withExif(WITH_GPS.exif)
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 50 })
    .toBuffer();
  const media = await accepted(bytes, "image/jpeg");
  const made = await delivered(bytes, media);

  expect([media.width, media.height]).toEqual([6000, 8000]);
  const { orientation, exif } = await sharp(made, { limitInputPixels: false }).metadata();
  expect([orientation, exif?.length]).toEqual([6, 32]);
});

test.each(["gif", "webp"] as const)(
  "inspection accepts an animated %s and reports the size of one frame",
  async (format) => {
    const raw = await sharp({ create: { width: 20, height: 60, channels: 3, background: "red" } })
      .composite([{ input: Buffer.from(samplePng({ width: 20, height: 20 })), top: 20, left: 0 }])
      .raw()
      .toBuffer();
    const bytes = await sharp(raw, { raw: { width: 20, height: 60, channels: 3, pageHeight: 20 } })
      .toFormat(format)
      .toBuffer();

    expect((await sharp(bytes).metadata()).pages).toBe(3);
    expect(await accepted(bytes, `image/${format}`)).toMatchObject({
      width: 20,
      height: 20,
      delivery: { kind: "same" },
    });
  },
);

const meta = (key: string, value: string) =>
  box(
    "meta",
    box("hdlr", u32(0, 0), ascii("mdta"), Buffer.alloc(13)),
    box("keys", u32(0, 1), box("mdta", ascii(key))),
    box("ilst", box("\0\0\0\x01", box("data", u32(1, 0), ascii(value)))),
  );
const place = "+52.5200+013.4050/";
const personal: readonly (readonly [string, Uint8Array])[] = [
  ["udta", sampleMp4({ inMovie: [box("udta", box("\u00a9xyz", ascii(place)))] })],
  ["the track's udta", sampleMp4({ inTrack: [box("udta", box("\u00a9xyz", ascii(place)))] })],
  ["QuickTime keys", sampleMp4({ inMovie: [meta("com.apple.quicktime.location.ISO6709", place)] })],
  [
    "XMP",
    sampleMp4({
      behind: [box("uuid", Buffer.from("be7acfcb97a942e89c71999491e3afac", "hex"), ascii(place))],
    }),
  ],
  ["WebM tags", sampleWebm({ inSegment: [tags("LOCATION", place)] })],
  [
    "a WebM's title",
    sampleWebm({
      info: [
        unsigned(ID.timestampScale, 1e6),
        text(ID.tagString, ""),
        text(0x7ba9, place),
        float(ID.duration, 1000),
      ],
    }),
  ],
];

test.each(personal)(
  "inspection overwrites the location in %s, and the video stays valid",
  async (_, bytes) => {
    const media = await accepted(bytes);
    const made = await delivered(bytes, media);

    expect(media.delivery.kind).toBe("blanked");
    expect(Buffer.from(bytes).includes(place)).toBe(true);
    expect(made.includes(place)).toBe(false);
    expect(await accepted(made)).toMatchObject({
      width: media.width,
      height: media.height,
      durationMs: media.durationMs,
      delivery: { kind: "same" },
    });
  },
);

test("inspection leaves a video unchanged when its metadata only names the program that wrote the file", async () => {
  const encoder = box("udta", box("meta", u32(0), box("ilst", box("\u00a9too", ascii("Lavf")))));

  expect(await accepted(sampleMp4({ inMovie: [encoder] }))).toMatchObject({
    delivery: { kind: "same" },
  });
  expect(await accepted(sampleWebm({ inSegment: [tags("ENCODER", "Lavf")] }))).toMatchObject({
    delivery: { kind: "same" },
  });
});

test("inspection writes a cleaned copy of a video whose metadata is too large to be overwritten in place", async () => {
  const xmp = Buffer.alloc(1_000_000, place);
  const bytes = sampleMp4({ inMovie: [box("udta", box("XMP_", xmp))] });
  const media = await accepted(bytes);

  expect(media.delivery.kind).toBe("rewritten");
  expect((await delivered(bytes, media)).includes(place)).toBe(false);
});

test("inspection overwrites a track of camera positions and the samples of the track", async () => {
  const metadataTrack = (offset: number) =>
    box(
      "trak",
      box("tkhd", u32(3, 0, 0, 2, 0, 1000), Buffer.alloc(60)),
      box(
        "mdia",
        box("mdhd", u32(0, 0, 0, 1000, 1000, 0)),
        box("hdlr", u32(0, 0), ascii("meta"), Buffer.alloc(13)),
        box(
          "minf",
          box(
            "stbl",
            box("stsd", u32(0, 1), box("gpmd", Buffer.alloc(8))),
            box("stts", u32(0, 1, 3, 333)),
            // The first chunk of this track has two samples, the second chunk has one.
            box("stsc", u32(0, 2, 1, 2, 1, 2, 1, 1)),
            box("stsz", u32(0, 0, 3, place.length, place.length, place.length)),
            box("stco", u32(0, 2, offset, offset + 2 * place.length + 4)),
          ),
        ),
      ),
    );
  const samples = box("mdat", ascii(`${place}${place}KEEP${place}KEEP`));
  const video = (offset: number) =>
    sampleMp4({ inMovie: [metadataTrack(offset)], behind: [samples] });
  const bytes = video(video(0).length - samples.length + 8);
  const media = await accepted(bytes);
  const made = await delivered(bytes, media);

  expect([made.includes(place), made.includes("gpmd")]).toEqual([false, false]);
  expect(made.subarray(-4).toString()).toBe("KEEP");
  expect(made.subarray(-4 - place.length - 4, -4 - place.length).toString()).toBe("KEEP");
  expect(await accepted(made)).toMatchObject({ durationMs: media.durationMs });
});

test("the brand in the header of a video file decides whether its type is MP4 or QuickTime", async () => {
  expect((await accepted(sampleMp4({ brand: "qt  " }))).contentType).toBe("video/quicktime");
  expect((await accepted(sampleMp4({ brand: "mp42" }))).contentType).toBe("video/mp4");
  expect(await inspect(sampleMp4(), "video/quicktime")).toMatchObject({
    violation: { code: "media_type_mismatch" },
  });
});

test.each([
  [0, 128, 96],
  [90, 96, 128],
  [180, 128, 96],
  [270, 96, 128],
])(
  "inspection reports a video that is rotated by %s degrees with the size %s x %s",
  async (rotation, width, height) => {
    expect(await accepted(sampleMp4({ rotation, seconds: 3 }))).toMatchObject({
      kind: "video",
      width,
      height,
      durationMs: 3000,
    });
  },
);

test("inspection reports the time of the last frame as the duration of a live WebM recording", async () => {
  const live = sampleWebm({ live: true, info: [unsigned(ID.timestampScale, 1_000_000)] });

  expect(await accepted(live, "video/webm")).toMatchObject({ width: 320, durationMs: 2000 });
});

test("the rejection of a media file contains its code, limit and actual value", async () => {
  const jpeg = sampleJpeg({ width: 8, height: 8 });
  const tiny = createFileInspector({ limits: { ...limits, maxImageBytes: 100 }, logger });
  await using _ = tiny;

  expect(await inspect(jpeg, "image/png")).toMatchObject({
    violation: { code: "media_type_mismatch" },
  });
  expect(await inspect(jpeg, { contentType: "image/jpeg", bytes: 7 })).toMatchObject({
    violation: { code: "media_length_mismatch", limit: 7, actual: jpeg.length },
  });
  expect(await inspect(Buffer.from("hello"))).toMatchObject({
    violation: { code: "media_type_unsupported" },
  });
  expect(await tiny.inspect(await write(jpeg), undefined)).toMatchObject({
    violation: { code: "media_too_large", limit: 100, actual: jpeg.length },
  });
});

test("a media file whose inspection exceeds the memory limit is rejected", async () => {
  const frugal = createFileInspector({ limits: { ...limits, memoryBytes: 30_000_000 }, logger });
  await using _ = frugal;
  const video = await write(sampleMp4({ seconds: 60 }));

  expect(await frugal.inspect(video, undefined)).toMatchObject({
    kind: "rejected",
    violation: { code: "media_unreadable", limit: 30_000_000 },
  });
});

test("a media file whose inspection exceeds the time limit is rejected, and the next file is inspected", async () => {
  const hasty = createFileInspector({ limits: { ...limits, timeMs: 700 }, logger });
  await using _ = hasty;
  const large = await sharp({
    create: { width: 9000, height: 9000, channels: 4, background: "red" },
  })
    .toColourspace("rgb16")
    .png({ compressionLevel: 1 })
    .toBuffer();

  expect(await hasty.inspect(await write(large), undefined)).toMatchObject({
    kind: "rejected",
    violation: { code: "media_unreadable", message: expect.stringContaining("time") },
  });
  const small = await write(Buffer.from("text"));
  expect(await hasty.inspect(small, undefined)).toMatchObject({
    violation: { code: "media_type_unsupported" },
  });
});

test("the inspection of a media file returns unavailable when too many inspections wait or when the inspector stops", async () => {
  const busy = createFileInspector({ limits, logger, maxWaiting: 1 });
  const path = await write(sampleMp4({ seconds: 60 }));
  const results = Array.from({ length: 4 }, () => busy.inspect(path, undefined));

  expect(await results[3]).toEqual({ kind: "unavailable" });
  await busy[Symbol.asyncDispose]();
  expect(await results[2]).toEqual({ kind: "unavailable" });
  expect(await busy.inspect(path, undefined)).toEqual({ kind: "unavailable" });
});

test("the inspection of a media file returns unavailable when the file does not exist", async () => {
  const path = join(folder, "nothing");

  expect(await inspector.inspect(path, undefined)).toEqual({ kind: "unavailable" });
  await expect(access(`${path}.delivery`)).rejects.toThrow("ENOENT");
});
