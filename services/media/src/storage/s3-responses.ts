import type { S3ServiceException } from "@aws-sdk/client-s3";
import type { StoredObject } from "./object-store.ts";

/** HTTP status of a failed call; undefined when the store did not answer. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("$metadata" in error)) return undefined;
  return (error as S3ServiceException).$metadata.httpStatusCode;
}

/** For `catch`: turns a missing object or bucket into undefined and rethrows every other error. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
  return undefined;
}

/** Whether a call failed because the object does not have the requested version. */
export function isPreconditionFailed(error: unknown): boolean {
  return statusOf(error) === 412;
}

/** Whether a call failed because the range starts beyond the end of the object. */
export function isRangeNotSatisfiable(error: unknown): boolean {
  return statusOf(error) === 416;
}

/** The headers of a response that describe an object. */
export interface ObjectHeaders {
  readonly ContentLength?: number | undefined;
  readonly ETag?: string | undefined;
  readonly LastModified?: Date | undefined;
}

/**
 * Every response should contain an ETag, but versitygw loses it for a copy whose source is replaced at that moment. The
 * modification time then serves as the version: no move succeeds with it, but the object can be read.
 */
export function toStoredObject(
  headers: ObjectHeaders,
  bytes = headers.ContentLength,
): StoredObject {
  const version = headers.ETag ?? headers.LastModified?.toISOString();
  if (bytes === undefined || version === undefined) {
    throw new Error(
      "the response of the object store has no Content-Length, or neither ETag nor Last-Modified",
    );
  }
  return { bytes, version };
}

/** The length of the whole object in a `Content-Range` header such as `bytes 0-9/1234`. */
export function totalOf(contentRange: string | undefined): number | undefined {
  const total = /\/(\d+)$/.exec(contentRange ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

export function isBefore(time: Date | undefined, before: Date): boolean {
  return time !== undefined && time.getTime() < before.getTime();
}
