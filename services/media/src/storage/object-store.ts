/** A byte range of an object; without `length` the range extends to the end. Bytes beyond the end are left out. */
export interface ByteRange {
  readonly start: number;
  readonly length?: number;
}

/** Metadata of an object in the object store. */
export interface StoredObject {
  /** Length of the whole object in bytes, also when only a range is read. */
  readonly bytes: number;
  /**
   * Version of an object, which changes whenever other bytes are written to its key. Some stores use an MD5 of the
   * bytes as version, and a client can forge two files with the same MD5. Direct uploads are therefore moved to a key
   * that clients cannot write, and checked there.
   */
  readonly version: string;
}

/** Properties of a direct upload to the object store that its signed URL enforces. */
export interface DirectUpload {
  readonly contentType: string;
  readonly bytes: number;
  readonly expiresAt: Date;
}

/**
 * The object store, which holds the bytes of media. The media service chooses the keys (`uploads/<id>`, `objects/<id>`;
 * see `object-key.ts`), never a client. An object exists as a whole or not at all: an interrupted write is invisible to
 * `open` and `stat`. The tests of all stores are in `test/object-store.slow.test.ts`.
 */
export interface ObjectStore extends AsyncDisposable {
  /**
   * Writes or replaces an object, which is durable when the call returns. The memory use does not grow with the object.
   * Chunks are not copied, so the source must not change a chunk that it has yielded. A signal after the last byte may
   * have no effect.
   *
   * @throws The signal's reason, and the errors of `bytes`.
   */
  put(key: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<StoredObject>;
  /** Opens an object for reading; undefined when it does not exist. The caller reads to the end or cancels the stream. */
  open(
    key: string,
    range?: ByteRange,
    signal?: AbortSignal,
  ): Promise<(StoredObject & { readonly content: AsyncIterable<Uint8Array> }) | undefined>;
  stat(key: string): Promise<StoredObject | undefined>;
  /**
   * Moves the object at the key `from` to the key `to` if it still has `version`, and replaces any object there. A
   * concurrent or later write to `from` never reaches `to`, but a concurrent write may be lost. After a crash both keys
   * may exist; repeating the move finishes it.
   *
   * @returns false when the object has another version or does not exist.
   */
  move(from: string, to: string, version: string): Promise<boolean>;
  /** Deletes an object; the deletion of a missing object succeeds. */
  delete(key: string): Promise<void>;
  /** Yields every key with this prefix whose object was last written or moved before the time `before`. */
  list(prefix: string, before: Date): AsyncIterable<string>;
  /**
   * Deletes what interrupted writes that began before the time `before` left behind. Stored objects are not affected,
   * also when an interrupted write had the same key.
   *
   * @returns The number of writes whose remains were deleted.
   */
  removeUnfinished(before: Date): Promise<number>;
  /** Whether `createUploadUrl` returns signed URLs. */
  readonly hasUploadUrls: boolean;
  /**
   * Returns a signed URL at which the store accepts an upload of exactly this type and length; undefined when the store
   * does not support signed URLs.
   */
  createUploadUrl(key: string, upload: DirectUpload): Promise<string | undefined>;
  /** Checks that the object store can be reached. @throws When the store does not answer. */
  check(): Promise<void>;
}
