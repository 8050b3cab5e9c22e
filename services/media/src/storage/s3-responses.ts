import type { S3ServiceException } from "@aws-sdk/client-s3";
import type { StoredObject } from "./object-store.ts";

/** Returns the HTTP status of a failed call to the S3 store; undefined when the store did not answer. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("$metadata" in error)) return undefined;
  return (error as S3ServiceException).$metadata.httpStatusCode;
}

/** Handler for `catch`: returns undefined for a missing object or bucket and rethrows every other error. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
  return undefined;
}

/** Whether a call to the S3 store failed because the object does not have the requested version. */
export function isPreconditionFailed(error: unknown): boolean {
  return statusOf(error) === 412;
}

/** Whether a call to the S3 store failed because the range starts beyond the end of the object. */
export function isRangeNotSatisfiable(error: unknown): boolean {
  return statusOf(error) === 416;
}

/** The headers with which an S3 response describes an object. */
export interface ObjectHeaders {
  readonly ContentLength?: number | undefined;
  readonly ETag?: string | undefined;
  readonly LastModified?: Date | undefined;
}

/**
 * Reads the length and the version of an object from the headers of an S3 response. The version is the ETag. The server versitygw
 * omits the ETag of a copy whose source is replaced at that moment. Then the modification time serves as the version, and a move
 * that compares this version fails.
 */
export function toStoredObject(
  headers: ObjectHeaders,
  bytes = headers.ContentLength,
): StoredObject {
  const version = headers.ETag ?? headers.LastModified?.toISOString();
  if (bytes === undefined || version === undefined)
    throw new Error(
      "the response of the object store has no Content-Length, or neither ETag nor Last-Modified",
    );

  return { bytes, version };
}

/** Returns the length of the whole object from a `Content-Range` header such as `bytes 0-9/1234`. */
export function totalOf(contentRange: string | undefined): number | undefined {
  const total = /\/(\d+)$/.exec(contentRange ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

export function isBefore(time: Date | undefined, before: Date): boolean {
  return time !== undefined && time.getTime() < before.getTime();
}
