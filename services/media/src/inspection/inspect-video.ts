import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { CheckedMedia, Delivery, Patch } from "#src/domain/checked-media.ts";
import type { Blank, Film } from "#src/domain/film.ts";
import { readMp4 } from "#src/domain/mp4.ts";
import { readWebm } from "#src/domain/webm.ts";
import { hashFile } from "#src/operations/hash-file.ts";
import { openByteSource } from "#src/operations/open-byte-source.ts";
import type { OpenMedia } from "./inspect-file.ts";
import { deliveryPathOf } from "./inspection-protocol.ts";

/** Patches live in the database and are applied at each delivery; a film that needs more is stored twice. */
const MAX_PATCHES = 200;
const MAX_PATCH_BYTES = 256 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/** Reads the structure of a film, not its pictures, and finds what must be blanked before platforms get it. */
export async function checkVideo(file: OpenMedia): Promise<CheckedMedia> {
  const source = openByteSource(file.fd, file.bytes);
  const film = file.contentType === "video/webm" ? readWebm(source) : readMp4(source);
  file.onProgress();
  return {
    kind: "video",
    contentType: file.contentType,
    bytes: file.bytes,
    sha256: (await hashFile(file)).sha256,
    width: film.width,
    height: film.height,
    durationMs: film.durationMs,
    delivery: await prepareDelivery(file, film),
  };
}

async function prepareDelivery(file: OpenMedia, { blanks }: Film): Promise<Delivery> {
  if (blanks.length === 0) return { kind: "same" };
  const bytes = blanks.reduce((sum, blank) => sum + blank.bytes.length + blank.zeros, 0);
  if (bytes > MAX_PATCH_BYTES || blanks.length > MAX_PATCHES) return await rewrite(file, blanks);
  const hash = createHash("sha256");
  for await (const chunk of readBlanked(file, blanks)) hash.update(chunk);
  return { kind: "blanked", patches: blanks.map(toPatch), sha256: hash.digest("hex") };
}

async function rewrite(file: OpenMedia, blanks: readonly Blank[]): Promise<Delivery> {
  const path = deliveryPathOf(file.path);
  const hash = createHash("sha256");
  const hashed = async function* () {
    for await (const chunk of readBlanked(file, blanks)) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(hashed, createWriteStream(path, { flags: "wx", mode: 0o600 }));
  const sha256 = hash.digest("hex");
  return { kind: "rewritten", path, bytes: file.bytes, sha256, contentType: file.contentType };
}

/** The film as platforms get it. */
async function* readBlanked(file: OpenMedia, blanks: readonly Blank[]): AsyncGenerator<Buffer> {
  let position = 0;
  let first = 0;
  for await (const chunk of createReadStream(file.path, { highWaterMark: CHUNK_BYTES })) {
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

function endOf({ offset, bytes, zeros }: Blank): number {
  return offset + bytes.length + zeros;
}

/** Writes the part of a blank that lies in `chunk`, whose first byte is the `position`-th of the file. */
function blankOut(chunk: Buffer, position: number, blank: Blank): void {
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

function toPatch({ offset, bytes, zeros }: Blank): Patch {
  const all = Buffer.concat([bytes, Buffer.alloc(zeros)]);
  return { offset, bytes: all.toString("base64") };
}
