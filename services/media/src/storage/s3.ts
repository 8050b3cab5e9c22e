import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadBucketCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { requireRange } from "#src/storage/byte-range.ts";
import { isObjectKey, requireMove, requireObjectKey } from "#src/storage/object-key.ts";
import type {
  ByteRange,
  DirectUpload,
  ObjectStore,
  StoredObject,
} from "#src/storage/object-store.ts";
import {
  isBefore,
  isPreconditionFailed,
  isRangeNotSatisfiable,
  toStoredObject,
  totalOf,
  undefinedIfNotFound,
} from "#src/storage/s3-answers.ts";
import { createS3Client, deadline, type S3Config } from "#src/storage/s3-client.ts";
import { removeUnfinishedUploads, type S3Place, uploadStream } from "#src/storage/s3-upload.ts";

/** The store copies by itself: about a second for each 100 MB on a slow one. */
const COPY_MS = 300_000;

/** Connects to nothing yet: whether the bucket answers, `check` says. */
export function createS3Store(config: S3Config): ObjectStore {
  return new S3Store(config);
}

class S3Store implements ObjectStore {
  readonly #client: S3Client;
  readonly #signer: S3Client;
  readonly #bucket: string;

  constructor(config: S3Config) {
    this.#client = createS3Client(config, config.endpoint);
    this.#signer = createS3Client(config, config.publicEndpoint ?? config.endpoint);
    this.#bucket = config.bucket;
  }

  async put(
    key: string,
    bytes: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<StoredObject> {
    return await uploadStream(this.#client, this.#place(key), bytes, signal);
  }

  async open(key: string, range?: ByteRange, signal?: AbortSignal) {
    requireRange(range);
    if (range?.length === 0) return await this.#openNothing(key);
    try {
      const answer = await this.#client.send(
        new GetObjectCommand({ ...this.#place(key), Range: rangeHeader(range) }),
        signal === undefined ? {} : { abortSignal: signal },
      );
      const bytes = totalOf(answer.ContentRange) ?? answer.ContentLength;
      return { ...toStoredObject(answer, bytes), content: contentOf(answer) };
    } catch (error) {
      signal?.throwIfAborted();
      if (isRangeNotSatisfiable(error)) return await this.#openNothing(key);
      undefinedIfNotFound(error);
      await this.check();
      return undefined;
    }
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    const answer = await this.#client
      .send(new HeadObjectCommand(this.#place(key)), deadline())
      .catch(undefinedIfNotFound);
    if (answer !== undefined) return toStoredObject(answer);
    await this.check();
    return undefined;
  }

  /** The copy is the store's own and compares the version itself; the old key goes last, so that a crash loses nothing. */
  async move(from: string, to: string, version: string): Promise<boolean> {
    requireMove(from, to);
    const copy = new CopyObjectCommand({
      ...this.#place(to),
      CopySource: `${this.#bucket}/${from}`,
      CopySourceIfMatch: version,
    });
    try {
      const copied = await this.#client.send(copy, deadline(COPY_MS)).catch(undefinedIfNotFound);
      if (copied === undefined) {
        await this.check();
        return false;
      }
    } catch (error) {
      if (isPreconditionFailed(error)) return false;
      throw error;
    }
    await this.delete(from);
    return true;
  }

  async delete(key: string): Promise<void> {
    const gone = await this.#client
      .send(new DeleteObjectCommand(this.#place(key)), deadline())
      .catch(undefinedIfNotFound);
    if (gone === undefined) await this.check();
  }

  async *list(prefix: string, before: Date): AsyncGenerator<string, void, undefined> {
    const pages = paginateListObjectsV2(
      { client: this.#client },
      { Bucket: this.#bucket, Prefix: prefix },
    );
    for await (const { Contents = [] } of pages) {
      for (const { Key = "", LastModified } of Contents) {
        if (isObjectKey(Key) && isBefore(LastModified, before)) yield Key;
      }
    }
  }

  async removeUnfinished(before: Date): Promise<number> {
    return await removeUnfinishedUploads(this.#client, this.#bucket, before);
  }

  /**
   * The length and the type are signed, so nothing else is accepted. The time of signing is put back where needed: an
   * address for a time that is over is one that the store refuses.
   */
  async createUploadUrl(key: string, upload: DirectUpload): Promise<string> {
    const expires = upload.expiresAt.getTime();
    const signedAt = Math.min(Date.now(), expires - 1000);
    const command = new PutObjectCommand({
      ...this.#place(key),
      ContentType: upload.contentType,
      ContentLength: upload.bytes,
    });
    return await getSignedUrl(this.#signer, command, {
      signingDate: new Date(signedAt),
      expiresIn: Math.floor((expires - signedAt) / 1000),
      signableHeaders: new Set(["content-type", "content-length"]),
    });
  }

  /** It is asked before an object is called missing: without the bucket everything stored would look deleted. */
  async check(): Promise<void> {
    await this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }), deadline());
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
    this.#signer.destroy();
    return Promise.resolve();
  }

  #place(key: string): S3Place {
    requireObjectKey(key);
    return { Bucket: this.#bucket, Key: key };
  }

  async #openNothing(key: string) {
    const stored = await this.stat(key);
    return stored === undefined ? undefined : { ...stored, content: (async function* () {})() };
  }
}

function rangeHeader(range: ByteRange | undefined): string | undefined {
  if (range === undefined) return undefined;
  const end = range.length === undefined ? "" : range.start + range.length - 1;
  return `bytes=${range.start}-${end}`;
}

/** In Node the body is a stream of bytes. */
function contentOf({ Body }: GetObjectCommandOutput): AsyncIterable<Uint8Array> {
  if (Body === undefined || !(Symbol.asyncIterator in Body)) {
    throw new Error("the object store answers without a body");
  }
  const stream = Body as NodeJS.ReadableStream;
  // Whoever reads is told; before that, a lost connection must not end the process.
  stream.on("error", () => {});
  return stream as AsyncIterable<Buffer>;
}
