import type { S3ServiceException } from "@aws-sdk/client-s3";
import type { StoredObject } from "#src/storage/object-store.ts";

/** The status of the store's answer; undefined when there was none. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("$metadata" in error)) return undefined;
  return (error as S3ServiceException).$metadata.httpStatusCode;
}

/** For `catch`: no such object, or no such bucket, is an answer; everything else is not. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
  return undefined;
}

/** The object is not, or no longer, at the version that was asked for. */
export function isPreconditionFailed(error: unknown): boolean {
  return statusOf(error) === 412;
}

/** The range begins beyond the end of the object. */
export function isRangeNotSatisfiable(error: unknown): boolean {
  return statusOf(error) === 416;
}

/** What the store says of an object, in the names of its answers. */
export interface ObjectAnswer {
  readonly ContentLength?: number | undefined;
  readonly ETag?: string | undefined;
  readonly LastModified?: Date | undefined;
}

/**
 * An ETag is in every answer of a store that speaks the protocol; one of ours (versitygw) loses it of a copy whose source
 * is replaced at that moment. The time then stands for it: nothing moves by it, and the object can still be read.
 */
export function toStoredObject(answer: ObjectAnswer, bytes = answer.ContentLength): StoredObject {
  const version = answer.ETag ?? answer.LastModified?.toISOString();
  if (bytes === undefined || version === undefined) {
    throw new Error("the object store answers without Content-Length, or without ETag and time");
  }
  return { bytes, version };
}

/** The size of the whole object out of `bytes 0-9/1234`. */
export function totalOf(contentRange: string | undefined): number | undefined {
  const total = /\/(\d+)$/.exec(contentRange ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

export function isBefore(time: Date | undefined, before: Date): boolean {
  return time !== undefined && time.getTime() < before.getTime();
}
