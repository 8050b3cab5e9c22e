import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { afterAll, expect, test } from "vitest";
import type { RenditionPlan } from "#src/domain/rendition-plan.ts";
import { BoxReader } from "#src/domain/videos/mp4-box.ts";
import { findMp4Metadata, readSampleRanges } from "#src/domain/videos/mp4-metadata.ts";
import { readMp4Track } from "#src/domain/videos/mp4-track.ts";
import type { ByteSource, VideoFacts } from "#src/domain/videos/video-layout.ts";
import { createFileInspector } from "#src/inspection/file-inspector.ts";

const FILES = new URL("videos/", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "postrider-videos-"));
const limits = { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 };
const logger = createLogger({ service: "media", level: "silent" });
const inspector = createFileInspector({ limits, logger });

afterAll(async () => {
  await inspector[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const readVideo = (name: string) => readFileSync(new URL(name, FILES));

async function inspect(bytes: Uint8Array) {
  const path = join(folder, "video");
  await writeFile(path, bytes);
  const result = await inspector.inspect(path, undefined);
  if (result.kind !== "accepted") throw new Error(JSON.stringify(result));
  return result.media;
}

const H264 = { codec: "h264", profile: "high", pixelFormat: "yuv420p", audioCodec: null };
const FRONT = { fastStart: true, fragmented: false };
const LAST = { fastStart: false, fragmented: false };
const unknown = { profile: null, pixelFormat: null };

/** What ffprobe says of each file in `test/videos`. */
const FACTS: Readonly<Record<string, VideoFacts>> = {
  "h264-12fps.mp4": { ...H264, fps: 12, ...FRONT },
  "h264-120fps.mp4": { ...H264, fps: 120, ...FRONT },
  "h264-10-bit.mp4": {
    codec: "h264",
    profile: "high 10",
    pixelFormat: "yuv420p10",
    audioCodec: "aac",
    fps: 30,
    ...FRONT,
  },
  "h264-422.mp4": {
    codec: "h264",
    profile: "high 4:2:2",
    pixelFormat: "yuv422p",
    audioCodec: null,
    fps: 30,
    ...FRONT,
  },
  "mpeg4-mp3.mp4": { codec: "mpeg4", ...unknown, audioCodec: "mp3", fps: 30, ...FRONT },
  "h264-mp3.mp4": { ...H264, audioCodec: "mp3", fps: 30, ...FRONT },
  "h264-aac-index-last.mp4": { ...H264, audioCodec: "aac", fps: 29.97, ...LAST },
  "hevc-10-bit.mp4": {
    codec: "hevc",
    profile: "main 10",
    pixelFormat: "yuv420p10",
    audioCodec: "aac",
    fps: 30,
    ...FRONT,
  },
  "h264-aac.mov": { ...H264, audioCodec: "aac", fps: 25, ...LAST },
  "hevc-aac.mov": {
    codec: "hevc",
    profile: "main",
    pixelFormat: "yuv420p",
    audioCodec: "aac",
    fps: 25,
    ...LAST,
  },
  "h264-pcm.mov": { ...H264, audioCodec: "pcm", fps: 25, ...LAST },
  "prores.mov": { codec: "prores", ...unknown, audioCodec: null, fps: 25, ...LAST },
  "vp9-opus.webm": { codec: "vp9", ...unknown, audioCodec: "opus", fps: 25, ...FRONT },
  "fragmented.mp4": { ...H264, audioCodec: "aac", fps: 24, fastStart: true, fragmented: true },
};

test("the table of expected encodings names each sample video", () => {
  expect(Object.keys(FACTS).sort()).toEqual(readdirSync(FILES).filter(isVideo).sort());
});

const isVideo = (name: string) => /\.(mp4|mov|webm)$/.test(name) && !name.startsWith("sound-only");

test.each(Object.entries(FACTS))(
  "the inspection of %s finds how the video is encoded",
  async (name, facts) => {
    const { video } = await inspect(readVideo(name));

    expect(video).toEqual(facts);
  },
);

const PLAN: RenditionPlan = {
  contentType: "video/mp4",
  width: 64,
  height: 48,
  fit: "scale",
  maxBytes: 1_000_000_000_000,
};

async function remux(bytes: Buffer, contentType: string) {
  const files: Buffer[] = [];
  const end = await inspector.render({
    contentType,
    plans: [PLAN],
    open: async function* () {
      yield await Promise.resolve(bytes);
    },
    receive: async (_index, _rendered, content) => {
      files.push(Buffer.concat(await Array.fromAsync(content)));
    },
  });
  if (end.kind !== "rendered") throw new Error(end.kind);
  return { outcome: end.outcomes[0], file: files[0] };
}

/**
 * Returns the hash of the samples of the first track of pictures and of sound, in their order in
 * time.
 */
function hashStreams(file: Buffer): readonly string[] {
  const source: ByteSource = {
    bytes: file.length,
    read: (offset, length) => file.subarray(offset, offset + length),
  };
  const reader = new BoxReader(source, 10_000);
  const top = reader.boxes({ payload: 0, end: file.length });
  const movie = top.find(({ type }) => type === "moov");
  if (movie === undefined) throw new Error("the file has no index");
  const inMovie = reader.boxes(movie);
  const tracks = inMovie
    .filter(({ type }) => type === "trak")
    .map((box) => readMp4Track(reader, box, false));
  expect(findMp4Metadata({ reader, top, inMovie, tracks })).toEqual([]);
  return tracks.map((track) => {
    const hash = createHash("sha256");
    for (const { offset, bytes } of readSampleRanges(reader, track))
      hash.update(file.subarray(offset, offset + bytes));
    return hash.digest("hex");
  });
}

test.each(["h264-aac.mov", "hevc-aac.mov", "h264-aac-index-last.mp4"])(
  "the media service converts %s to an MP4 with unchanged streams and its index in front",
  async (name) => {
    const original = readVideo(name);
    const before = await inspect(original);

    const { outcome, file } = await remux(original, before.contentType);

    if (file === undefined) throw new Error("no file");
    expect(outcome).toEqual({
      kind: "made",
      contentType: "video/mp4",
      width: 64,
      height: 48,
      bytes: file.length,
    });
    const after = await inspect(file);
    const { contentType, width, height, durationMs, video } = after;
    expect({ contentType, width, height, durationMs, video }).toEqual({
      contentType: "video/mp4",
      width: 64,
      height: 48,
      durationMs: before.durationMs,
      video: { ...before.video, fastStart: true },
    });
    expect(hashStreams(file)).toEqual(hashStreams(original));
  },
);

test.each(["h264-pcm.mov", "prores.mov", "fragmented.mp4"])(
  "the media service does not convert %s to an MP4, because its streams would have to be encoded again",
  async (name) => {
    const original = readVideo(name);
    const { contentType } = await inspect(original);

    expect(await remux(original, contentType)).toMatchObject({
      outcome: { kind: "refused", refusal: "container" },
      file: undefined,
    });
  },
);
