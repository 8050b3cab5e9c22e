import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { fileTypeFromBuffer } from "file-type";
import { foldContentType, kindOf } from "#src/domain/accepted-types.ts";
import type { CheckedMedia, CheckResult, Declared } from "#src/domain/checked-media.ts";
import { MediaRejected, unreadable } from "#src/domain/media-rejected.ts";
import { realContentType } from "#src/domain/real-content-type.ts";
import { checkImage } from "./inspect-image.ts";
import { checkVideo } from "./inspect-video.ts";
import type { CheckLimits } from "./inspection-protocol.ts";

/** What `file-type` looks at; more of the file would only give hostile ones more room. */
const SNIFF_BYTES = 4100;

/** A file that is open, with what is known of it. */
export interface OpenMedia {
  readonly path: string;
  readonly fd: number;
  readonly bytes: number;
  readonly contentType: string;
  readonly limits: CheckLimits;
  readonly onProgress: () => void;
}

export interface CheckFileOptions {
  readonly declared: Declared | undefined;
  readonly limits: CheckLimits;
  readonly onProgress: () => void;
}

/** Checks one file from its first bytes to its last. Throws only what says nothing of the file. */
export async function checkFile(path: string, options: CheckFileOptions): Promise<CheckResult> {
  const fd = openSync(path, "r");
  try {
    return { kind: "checked", media: await check(path, fd, options) };
  } catch (error) {
    if (error instanceof MediaRejected) return { kind: "rejected", violation: error.violation };
    throw error;
  } finally {
    closeSync(fd);
  }
}

async function check(path: string, fd: number, options: CheckFileOptions): Promise<CheckedMedia> {
  const { declared, limits, onProgress } = options;
  const bytes = fstatSync(fd).size;
  if (declared !== undefined && declared.bytes !== bytes) throw lengthMismatch(declared, bytes);
  if (bytes === 0) throw unreadable("The file is empty.");
  const contentType = await sniff(fd);
  checkType(contentType, declared);
  const kind = kindOf(contentType);
  const limit = kind === "image" ? limits.maxImageBytes : limits.maxVideoBytes;
  if (bytes > limit) throw tooLarge(limit, bytes);
  const file: OpenMedia = { path, fd, bytes, contentType, limits, onProgress };
  return kind === "image" ? checkImage(file) : checkVideo(file);
}

async function sniff(fd: number): Promise<string> {
  const head = Buffer.alloc(SNIFF_BYTES);
  const sniffed = head.subarray(0, readSync(fd, head, 0, SNIFF_BYTES, 0));
  return realContentType(sniffed, await guessType(sniffed));
}

/** Best effort: a file that it stumbles over is of no type that it knows. */
async function guessType(head: Uint8Array): Promise<string | undefined> {
  try {
    return (await fileTypeFromBuffer(head))?.mime;
  } catch {
    return undefined;
  }
}

function checkType(real: string, declared: Declared | undefined): void {
  if (declared !== undefined && foldContentType(declared.contentType) !== real) {
    const message = `The file is ${real}, not ${declared.contentType} as declared.`;
    throw new MediaRejected({ code: "media_type_mismatch", message });
  }
  if (kindOf(real) === undefined) {
    const message = `Files of the type ${real} are not taken.`;
    throw new MediaRejected({ code: "media_type_unsupported", message });
  }
}

function lengthMismatch(declared: Declared, actual: number): MediaRejected {
  const message = "The file has another length than declared.";
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
