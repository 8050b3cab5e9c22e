import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsRequest,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { abortable } from "#src/storage/at-minimum-rate.ts";
import type { StoredObject } from "#src/storage/object-store.ts";
import { deadline } from "#src/storage/s3-client.ts";
import { isObjectKey } from "#src/storage/store-arguments.ts";
import { isBefore, toStoredObject, undefinedIfNotFound } from "./s3-responses.ts";

export interface S3Location {
  readonly Bucket: string;
  readonly Key: string;
}

/** The minimum of S3, which allows 10,000 parts, and thereby 52 GB. */
const PART_BYTES = 5 * 1024 * 1024;
const PART_TIMEOUT_MS = 60_000;
/** A store may join all parts before it answers. */
const COMPLETE_TIMEOUT_MS = 300_000;

/**
 * One call if the stream fits into one part, otherwise parts. The last call makes the object
 * visible; the signal does not abort it, because its outcome would be unknown.
 *
 * `Upload` of `@aws-sdk/lib-storage` 3.1169.0 takes twice the processor time (2.4-3.5 s instead of
 * 1.2 s for 512 MB), sets no time limit, does not abort a part in flight, and its `abort()` rejects
 * before the parts are deleted.
 */
export async function uploadStream(
  client: S3Client,
  location: S3Location,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<StoredObject> {
  const failed = new AbortController();
  const stop = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const parts = partsOf(abortable(bytes, stop));
  try {
    const first = await parts.next();
    const part = first.done === true ? Buffer.alloc(0) : first.value;
    return part.length < PART_BYTES
      ? await putWhole(client, location, part)
      : await putParts(client, location, part, parts, stop);
  } catch (error) {
    // The caller gets the signal's reason instead of the SDK's error.
    signal?.throwIfAborted();
    throw error;
  } finally {
    failed.abort();
  }
}

async function putWhole(
  client: S3Client,
  location: S3Location,
  body: Buffer,
): Promise<StoredObject> {
  const { ETag } = await client.send(
    new PutObjectCommand({ ...location, Body: body, ContentLength: body.length }),
    deadline(PART_TIMEOUT_MS),
  );
  return toStoredObject({ ContentLength: body.length, ETag });
}

async function putParts(
  client: S3Client,
  location: S3Location,
  first: Buffer,
  rest: AsyncGenerator<Buffer, void, undefined>,
  stop: AbortSignal,
): Promise<StoredObject> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(location), {
    abortSignal: AbortSignal.any([stop, AbortSignal.timeout(PART_TIMEOUT_MS)]),
  });
  const upload = { ...location, UploadId };
  let sending: Promise<CompletedPart> | undefined;
  try {
    const parts: CompletedPart[] = [];
    let size = 0;
    for (let part: Buffer | undefined = first; part !== undefined;) {
      const number = parts.length + 1;
      // The next part is collected meanwhile.
      sending = sendPart(client, upload, number, part, stop);
      const [sent, next]: [CompletedPart, IteratorResult<Buffer, void>] = await Promise.all([
        sending,
        rest.next(),
      ]);
      parts.push(sent);
      size += part.length;
      part = next.done === true ? undefined : next.value;
    }
    stop.throwIfAborted();
    const { ETag } = await client.send(
      new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }),
      deadline(COMPLETE_TIMEOUT_MS),
    );
    return toStoredObject({ ContentLength: size, ETag });
  } catch (error) {
    // A part that arrives after the abort could recreate the upload.
    await sending?.catch(() => {});
    // If this fails, `removeUnfinished` deletes the parts later.
    await client.send(new AbortMultipartUploadCommand(upload), deadline()).catch(() => {});
    throw error;
  }
}

async function sendPart(
  client: S3Client,
  upload: S3Location & { readonly UploadId: string | undefined },
  number: number,
  body: Buffer,
  stop: AbortSignal,
): Promise<CompletedPart> {
  const { ETag } = await client.send(
    new UploadPartCommand({
      ...upload,
      PartNumber: number,
      Body: body,
      ContentLength: body.length,
    }),
    { abortSignal: AbortSignal.any([stop, AbortSignal.timeout(PART_TIMEOUT_MS)]) },
  );
  return { PartNumber: number, ETag };
}

/** Returns the number of uploads that began before `before` and were not completed. */
export async function removeUnfinishedUploads(
  client: S3Client,
  bucket: string,
  before: Date,
): Promise<number> {
  let count = 0;
  let from: Pick<ListMultipartUploadsRequest, "KeyMarker" | "UploadIdMarker"> = {};
  for (;;) {
    const list = new ListMultipartUploadsCommand({ Bucket: bucket, ...from });
    const page = await client.send(list, deadline());
    for (const { Key = "", UploadId, Initiated } of page.Uploads ?? []) {
      if (!isObjectKey(Key) || !isBefore(Initiated, before)) continue;
      const abort = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
      await client.send(abort, deadline()).catch(undefinedIfNotFound);
      count += 1;
    }
    if (page.IsTruncated !== true) return count;
    from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}

/**
 * Memory does not grow with the stream, because two buffers alternate: that of a part is
 * overwritten when the second part after it is requested.
 */
async function* partsOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let filling: Buffer = Buffer.allocUnsafeSlow(PART_BYTES);
  let other: Buffer | undefined;
  let filled = 0;
  for await (const chunk of bytes)
    for (let taken = 0; taken < chunk.length;) {
      if (filled === PART_BYTES) {
        yield filling;
        [filling, other] = [other ?? Buffer.allocUnsafeSlow(PART_BYTES), filling];
        filled = 0;
      }
      const part = chunk.subarray(taken, taken + PART_BYTES - filled);
      filling.set(part, filled);
      filled += part.length;
      taken += part.length;
    }

  if (filled > 0) yield filling.subarray(0, filled);
}
