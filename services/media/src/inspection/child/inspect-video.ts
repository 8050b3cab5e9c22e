import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { InspectedMedia, Delivery, Patch } from "#src/domain/inspected-media.ts";
import { readMp4 } from "#src/domain/videos/mp4.ts";
import type { BlankedRange, VideoLayout } from "#src/domain/videos/video-layout.ts";
import { readWebm } from "#src/domain/videos/webm.ts";
import { OUTPUT_FD } from "#src/inspection/inspection-protocol.ts";
import { hashFile, openByteSource, type OpenFile, readChunks } from "./open-file.ts";

/**
 * The database stores the patches, and every download applies them. A video that needs more gets a
 * second file.
 */
const MAX_PATCHES = 200;
const MAX_PATCH_BYTES = 256 * 1024;

/** Parses the structure without decoding frames, and finds the metadata to blank. */
export async function inspectVideo(file: OpenFile): Promise<InspectedMedia> {
  const source = openByteSource(file.fd, file.bytes);
  const layout = file.contentType === "video/webm" ? readWebm(source) : readMp4(source);
  file.onProgress();
  return {
    kind: "video",
    contentType: file.contentType,
    bytes: file.bytes,
    sha256: (await hashFile(file)).sha256,
    width: layout.width,
    height: layout.height,
    durationMs: layout.durationMs,
    frames: 0,
    video: layout.facts,
    delivery: await prepareDelivery(file, layout),
  };
}

async function prepareDelivery(file: OpenFile, { blanks }: VideoLayout): Promise<Delivery> {
  if (blanks.length === 0) return { kind: "same" };
  const bytes = blanks.reduce((sum, blank) => sum + blank.bytes.length + blank.zeros, 0);
  if (bytes > MAX_PATCH_BYTES || blanks.length > MAX_PATCHES) return await rewrite(file, blanks);
  const hash = createHash("sha256");
  for await (const chunk of readBlanked(file, blanks)) hash.update(chunk);
  return { kind: "blanked", patches: blanks.map(toPatch), sha256: hash.digest("hex") };
}

async function rewrite(file: OpenFile, blanks: readonly BlankedRange[]): Promise<Delivery> {
  const hash = createHash("sha256");
  const hashed = async function* () {
    for await (const chunk of readBlanked(file, blanks)) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(hashed, createWriteStream("", { fd: OUTPUT_FD, start: 0 }));
  const sha256 = hash.digest("hex");
  return { kind: "rewritten", path: "", bytes: file.bytes, sha256, contentType: file.contentType };
}

async function* readBlanked(
  file: OpenFile,
  blanks: readonly BlankedRange[],
): AsyncGenerator<Buffer> {
  let position = 0;
  let first = 0;
  for await (const chunk of readChunks(file.fd)) {
    const end = position + chunk.length;
    for (let index = first; index < blanks.length; index += 1) {
      const blank = blanks[index];
      if (blank === undefined || blank.offset >= end) break;
      if (index === first && endOf(blank) <= position) first += 1;
      blankOut(chunk, position, blank);
    }
    position = end;
    file.onProgress();
    yield chunk;
  }
}

function endOf({ offset, bytes, zeros }: BlankedRange): number {
  return offset + bytes.length + zeros;
}

/** Overwrites the part of a range that lies in `chunk`; `position` is its offset in the file. */
function blankOut(chunk: Buffer, position: number, blank: BlankedRange): void {
  const zerosAt = blank.offset + blank.bytes.length;
  for (const [index, byte] of blank.bytes.entries()) {
    const at = blank.offset + index - position;
    if (at >= 0 && at < chunk.length) chunk[at] = byte;
  }
  chunk.fill(0, clamp(zerosAt - position, chunk), clamp(endOf(blank) - position, chunk));
}

function clamp(at: number, chunk: Buffer): number {
  return Math.min(chunk.length, Math.max(0, at));
}

function toPatch({ offset, bytes, zeros }: BlankedRange): Patch {
  const all = Buffer.concat([bytes, Buffer.alloc(zeros)]);
  return { offset, bytes: all.toString("base64") };
}
