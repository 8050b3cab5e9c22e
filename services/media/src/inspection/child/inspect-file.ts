import { fstatSync, readSync } from "node:fs";
import { fileTypeFromBuffer } from "file-type";
import { foldContentType, kindOf, UNKNOWN_TYPE } from "#src/domain/accepted-types.ts";
import type {
  DeclaredFile,
  InspectedMedia,
  InspectionResult,
} from "#src/domain/inspected-media.ts";
import { MediaRejected, unreadable, unsupportedType } from "#src/domain/media-rejected.ts";
import { isHeif, realContentType } from "#src/domain/real-content-type.ts";
import { INPUT_FD, type InspectionLimits } from "#src/inspection/inspection-protocol.ts";
import { inspectHeif } from "./inspect-heif.ts";
import { inspectImage } from "./inspect-image.ts";
import { inspectVideo } from "./inspect-video.ts";
import type { OpenFile } from "./open-file.ts";

/** No more than `file-type` needs, because a hostile file could exploit more. */
const SNIFF_BYTES = 4100;

export interface InspectFileOptions {
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
