import { createHash } from "node:crypto";
import { createWriteStream, fstatSync, readSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { fileTypeFromBuffer } from "file-type";
import { foldContentType, kindOf, UNKNOWN_TYPE } from "#src/domain/accepted-types.ts";
import type {
  DeclaredFile,
  Delivery,
  InspectedMedia,
  InspectionResult,
  Patch,
} from "#src/domain/inspected-media.ts";
import { MediaRejected, unreadable, unsupportedType } from "#src/domain/media-rejected.ts";
import { isHeif, realContentType } from "#src/domain/real-content-type.ts";
import { readMp4 } from "#src/domain/videos/mp4.ts";
import type { BlankedRange, VideoLayout } from "#src/domain/videos/video-layout.ts";
import { readWebm } from "#src/domain/videos/webm.ts";
import { INPUT_FD, type InspectionLimits, OUTPUT_FD } from "#src/inspection/inspection-protocol.ts";
import { inspectHeif } from "./inspect-heif.ts";
import { inspectImage } from "./inspect-image.ts";
import { hashFile, openByteSource, type OpenFile, readChunks } from "./open-file.ts";

/**
 * The database stores the patches, and every download applies them. A video that needs more gets a
 * second file.
 */
const MAX_PATCHES = 200;
const MAX_PATCH_BYTES = 256 * 1024;

/** Parses the structure without decoding frames, and finds the metadata to blank. */
async function inspectVideo(file: OpenFile): Promise<InspectedMedia> {
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

/** No more than `file-type` needs, because a hostile file could exploit more. */
const SNIFF_BYTES = 4100;

interface InspectFileOptions {
  readonly declared: DeclaredFile | undefined;
  readonly limits: InspectionLimits;
  readonly onProgress: () => void;
}

/** An error that the file did not cause, such as a failed read, is thrown. */
export async function inspectFile(options: InspectFileOptions): Promise<InspectionResult> {
  try {
    return { kind: "accepted", media: await inspect(options) };
  } catch (error) {
    if (error instanceof MediaRejected) return { kind: "rejected", violation: error.violation };
    throw error;
  }
}

async function inspect({
  declared,
  limits,
  onProgress,
}: InspectFileOptions): Promise<InspectedMedia> {
  const fd = INPUT_FD;
  const bytes = fstatSync(fd).size;
  if (declared !== undefined && declared.bytes !== bytes) throw lengthMismatch(declared, bytes);
  if (bytes === 0) throw unreadable("The file is empty.");
  const contentType = await sniff(fd);
  checkType(contentType, declared);
  const kind = kindOf(contentType);
  const limit = kind === "image" ? limits.maxImageBytes : limits.maxVideoBytes;
  if (bytes > limit) throw tooLarge(limit, bytes);
  const file: OpenFile = { fd, bytes, contentType, limits, onProgress };
  if (kind === "video") return await inspectVideo(file);
  return isHeif(contentType) ? await inspectHeif(file) : await inspectImage(file);
}

async function sniff(fd: number): Promise<string> {
  const buffer = Buffer.alloc(SNIFF_BYTES);
  const start = buffer.subarray(0, readSync(fd, buffer, 0, SNIFF_BYTES, 0));
  return realContentType(start, await guessType(start));
}

async function guessType(start: Uint8Array): Promise<string | undefined> {
  try {
    return (await fileTypeFromBuffer(start))?.mime;
  } catch {
    return undefined;
  }
}

/**
 * A type that is not accepted is refused first, because declaring it would not help. Bytes of no
 * known type have no type that a client could declare.
 */
function checkType(real: string, declared: DeclaredFile | undefined): void {
  const isKnown = real !== UNKNOWN_TYPE;
  const isDeclared =
    declared === undefined || isSameType(foldContentType(declared.contentType), real);
  if (kindOf(real) === undefined && (isKnown || isDeclared)) throw unsupportedType(real);
  if (isDeclared) return;
  const message = `The file is ${real}, not ${declared?.contentType} as declared.`;
  const found = isKnown ? { found: real } : {};
  throw new MediaRejected({ code: "media_type_mismatch", message, ...found });
}

/** HEIC and HEIF count as equal, because clients guess them from file names. */
function isSameType(declared: string, real: string): boolean {
  return declared === real || declared === UNKNOWN_TYPE || (isHeif(declared) && isHeif(real));
}

function lengthMismatch(declared: DeclaredFile, actual: number): MediaRejected {
  const message = "The length of the file differs from the declared length.";
  return new MediaRejected({
    code: "media_length_mismatch",
    message,
    limit: declared.bytes,
    actual,
  });
}

function tooLarge(limit: number, actual: number): MediaRejected {
  const message = `The file is larger than ${limit} bytes.`;
  return new MediaRejected({ code: "media_too_large", message, limit, actual });
}
