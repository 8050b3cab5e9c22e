/** Without `length` the range extends to the end. Bytes beyond the end are left out. */
export interface ByteRange {
  readonly start: number;
  readonly length?: number;
}

export interface StoredObject {
  /** Size of the whole object, also if only a range is read. */
  readonly bytes: number;
  /**
   * Changes whenever other bytes are written. Some stores use an MD5, and a client can forge two
   * files with the same MD5: direct uploads are therefore moved to a key that clients cannot write,
   * and checked there.
   */
  readonly version: string;
}

/** What a signed URL enforces. */
export interface DirectUpload {
  readonly contentType: string;
  readonly bytes: number;
  readonly expiresAt: Date;
}

/**
 * Holds the bytes of media. An object exists as a whole or not at all: an interrupted write is
 * invisible to `open` and `stat`. The tests of all stores are in `test/object-store.slow.test.ts`.
 */
export interface ObjectStore extends AsyncDisposable {
  /**
   * Writes or replaces an object, which is then durable. Memory does not grow with the object.
   * Chunks are not copied, so the source must not change one that it has yielded. A signal after
   * the last byte may have no effect.
   *
   * @throws The signal's reason, and the errors of `bytes`.
   */
  put(key: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<StoredObject>;
  /**
   * Undefined when the object does not exist. The caller reads to the end or cancels the stream.
   */
  open(
    key: string,
    range?: ByteRange,
    signal?: AbortSignal,
  ): Promise<(StoredObject & { readonly content: AsyncIterable<Uint8Array> }) | undefined>;
  stat(key: string): Promise<StoredObject | undefined>;
  /**
   * Moves the object if it still has `version`; false when it has another or does not exist. A
   * concurrent or later write to `from` never reaches `to`, but a concurrent write may be lost.
   * After a crash both keys may exist; repeating the move finishes it.
   */
  move(from: string, to: string, version: string): Promise<boolean>;
  delete(key: string): Promise<void>;
  /** Yields every key whose object was last written or moved before `before`. */
  list(prefix: string, before: Date): AsyncIterable<string>;
  /**
   * Deletes what writes that began before `before` left behind, and returns their number. Stored
   * objects are not affected.
   */
  removeUnfinished(before: Date): Promise<number>;
  readonly hasUploadUrls: boolean;
  /** Exactly this type and length are accepted; undefined when the store has no signed URLs. */
  createUploadUrl(key: string, upload: DirectUpload): Promise<string | undefined>;
  /** @throws When the store does not answer. */
  check(): Promise<void>;
}

/** A failure is ignored, because remove-orphans deletes objects that no row names. */
export async function discardObjects(
  store: Pick<ObjectStore, "delete">,
  keys: readonly (string | null)[],
): Promise<void> {
  const known = keys.filter((key) => key !== null);
  await Promise.allSettled(known.map((key) => store.delete(key)));
}

/** The source of a short object. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
