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
import type {
  ByteRange,
  DirectUpload,
  ObjectStore,
  StoredObject,
} from "#src/storage/object-store.ts";
import {
  createS3Client,
  deadline,
  MAX_STREAM_SOCKETS,
  type S3Config,
} from "#src/storage/s3-client.ts";
import { removeUnfinishedUploads, type S3Location, uploadStream } from "#src/storage/s3-upload.ts";
import {
  isObjectKey,
  requireMove,
  requireObjectKey,
  requireRange,
} from "#src/storage/store-arguments.ts";
import {
  isBefore,
  isPreconditionFailed,
  isRangeNotSatisfiable,
  toStoredObject,
  totalOf,
  undefinedIfNotFound,
} from "./s3-responses.ts";

const COPY_TIMEOUT_MS = 300_000;
/** From a request until the store begins to answer. */
const OPEN_TIMEOUT_MS = 10_000;

/** Does not connect; `check` does. */
export function createS3Store(
  config: S3Config,
  openTimeoutMs: number = OPEN_TIMEOUT_MS,
): ObjectStore {
  return new S3Store(config, openTimeoutMs);
}

/**
 * Reads, writes and other calls have connections of their own: slow readers would otherwise occupy
 * those that uploads, checks and deletions need.
 */
class S3Store implements ObjectStore {
  readonly hasUploadUrls = true;
  readonly #reads: S3Client;
  readonly #writes: S3Client;
  readonly #client: S3Client;
  readonly #signer: S3Client;
  readonly #bucket: string;

  readonly #openTimeoutMs: number;

  constructor(config: S3Config, openTimeoutMs: number) {
    this.#openTimeoutMs = openTimeoutMs;
    this.#reads = createS3Client(config, config.endpoint, MAX_STREAM_SOCKETS);
    this.#writes = createS3Client(config, config.endpoint, MAX_STREAM_SOCKETS);
    this.#client = createS3Client(config, config.endpoint);
    this.#signer = createS3Client(config, config.publicEndpoint ?? config.endpoint);
    this.#bucket = config.bucket;
  }

  async put(
    key: string,
    bytes: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<StoredObject> {
    return await uploadStream(this.#writes, this.#locationOf(key), bytes, signal);
  }

  async open(key: string, range?: ByteRange, signal?: AbortSignal) {
    requireRange(range);
    if (range?.length === 0) return await this.#openEmpty(key);
    // Ends once the store begins to answer, because the bytes may take any time.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(timedOut(this.#openTimeoutMs)), this.#openTimeoutMs);
    try {
      const answer = await this.#reads.send(
        new GetObjectCommand({ ...this.#locationOf(key), Range: rangeHeader(range) }),
        {
          abortSignal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
        },
      );
      const bytes = totalOf(answer.ContentRange) ?? answer.ContentLength;
      return { ...toStoredObject(answer, bytes), content: contentOf(answer) };
    } catch (error) {
      signal?.throwIfAborted();
      late.signal.throwIfAborted();
      if (isRangeNotSatisfiable(error)) return await this.#openEmpty(key);
      undefinedIfNotFound(error);
      await this.check();
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    const answer = await this.#client
      .send(new HeadObjectCommand(this.#locationOf(key)), deadline())
      .catch(undefinedIfNotFound);
    if (answer !== undefined) return toStoredObject(answer);
    await this.check();
    return undefined;
  }

  /**
   * S3 itself copies and compares the version. The source is deleted last, so that a crash loses
   * nothing.
   */
  async move(from: string, to: string, version: string): Promise<boolean> {
    requireMove(from, to);
    const copy = new CopyObjectCommand({
      ...this.#locationOf(to),
      CopySource: `${this.#bucket}/${from}`,
      CopySourceIfMatch: version,
    });
    try {
      const copied = await this.#client
        .send(copy, deadline(COPY_TIMEOUT_MS))
        .catch(undefinedIfNotFound);
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
      .send(new DeleteObjectCommand(this.#locationOf(key)), deadline())
      .catch(undefinedIfNotFound);
    if (gone === undefined) await this.check();
  }

  async *list(prefix: string, before: Date): AsyncGenerator<string, void, undefined> {
    const pages = paginateListObjectsV2(
      { client: this.#client },
      { Bucket: this.#bucket, Prefix: prefix },
    );
    for await (const { Contents = [] } of pages)
      for (const { Key = "", LastModified } of Contents)
        if (isObjectKey(Key) && isBefore(LastModified, before)) yield Key;
  }

  async removeUnfinished(before: Date): Promise<number> {
    return await removeUnfinishedUploads(this.#client, this.#bucket, before);
  }

  /**
   * Signs length and type, so that the store accepts nothing else. An expired grant is signed with
   * a time in the past, so that the store refuses the upload.
   */
  async createUploadUrl(key: string, upload: DirectUpload): Promise<string> {
    const expires = upload.expiresAt.getTime();
    const signedAt = Math.min(Date.now(), expires - 1000);
    const command = new PutObjectCommand({
      ...this.#locationOf(key),
      ContentType: upload.contentType,
      ContentLength: upload.bytes,
    });
    return await getSignedUrl(this.#signer, command, {
      signingDate: new Date(signedAt),
      expiresIn: Math.floor((expires - signedAt) / 1000),
      // A client that names no type sends none, and the client library would sign its own default.
      signableHeaders: new Set(["content-length", ...(upload.contentType ? ["content-type"] : [])]),
    });
  }

  /** Throws when the bucket is missing, because every object would then appear deleted. */
  async check(): Promise<void> {
    await this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }), deadline());
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const client of [this.#reads, this.#writes, this.#client, this.#signer]) client.destroy();
    return Promise.resolve();
  }

  #locationOf(key: string): S3Location {
    requireObjectKey(key);
    return { Bucket: this.#bucket, Key: key };
  }

  async #openEmpty(key: string) {
    const stored = await this.stat(key);
    return stored === undefined ? undefined : { ...stored, content: (async function* () {})() };
  }
}

function timedOut(ms: number): Error {
  return new Error(`the object store did not answer a read within ${ms} ms`);
}

function rangeHeader(range: ByteRange | undefined): string | undefined {
  if (range === undefined) return undefined;
  const end = range.length === undefined ? "" : range.start + range.length - 1;
  return `bytes=${range.start}-${end}`;
}

function contentOf({ Body }: GetObjectCommandOutput): AsyncIterable<Uint8Array> {
  if (Body === undefined || !(Symbol.asyncIterator in Body))
    throw new Error("the response of the object store has no body");

  const stream = Body as NodeJS.ReadableStream;
  // Without this listener, a lost connection before the first read would end the process.
  stream.on("error", () => {});
  return stream as AsyncIterable<Buffer>;
}
