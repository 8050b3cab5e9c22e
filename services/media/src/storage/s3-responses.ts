import type { S3ServiceException } from "@aws-sdk/client-s3";
import type { StoredObject } from "./object-store.ts";

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("$metadata" in error)) return undefined;
  return (error as S3ServiceException).$metadata.httpStatusCode;
}

/** For `catch`: only a missing object or bucket is undefined. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error;
  return undefined;
}

export function isPreconditionFailed(error: unknown): boolean {
  return statusOf(error) === 412;
}

export function isRangeNotSatisfiable(error: unknown): boolean {
  return statusOf(error) === 416;
}

export interface ObjectHeaders {
  readonly ContentLength?: number | undefined;
  readonly ETag?: string | undefined;
  readonly LastModified?: Date | undefined;
}

/**
 * versitygw omits the ETag of a copy whose source is replaced at that moment. Then the modification
 * time is the version, and a move that compares it fails.
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

/** From a header such as `bytes 0-9/1234`. */
export function totalOf(contentRange: string | undefined): number | undefined {
  const total = /\/(\d+)$/.exec(contentRange ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

export function isBefore(time: Date | undefined, before: Date): boolean {
  return time !== undefined && time.getTime() < before.getTime();
}
