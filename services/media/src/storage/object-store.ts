/** A part of an object; without `length` it goes to the end. */
export interface ByteRange {
  readonly start: number;
  readonly length?: number;
}

/** An object as it is stored. */
export interface StoredObject {
  readonly bytes: number;
  /** Changes whenever the key is written again. */
  readonly version: string;
}

/** What an upload to the store itself is bound to. */
export interface DirectUpload {
  readonly contentType: string;
  readonly bytes: number;
  readonly expiresAt: Date;
}

/**
 * Where the bytes of media are. Keys are ours (`uploads/<id>`, `objects/<id>`, …), never a client's. An object is there
 * whole or not at all: what is cut off while being written leaves nothing that `open` or `stat` can see. One suite tests
 * every adapter: `test/object-store.test.ts`.
 */
export interface ObjectStore extends AsyncDisposable {
  /** Writes an object, or replaces it; durable when it returns. Nothing is collected in memory. */
  put(key: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<StoredObject>;
  /** The bytes as they come; undefined when there is no such object. Whoever opens reads to the end or breaks off. */
  open(
    key: string,
    range?: ByteRange,
    signal?: AbortSignal,
  ): Promise<(StoredObject & { readonly content: AsyncIterable<Uint8Array> }) | undefined>;
  stat(key: string): Promise<StoredObject | undefined>;
  /**
   * Renames an object if it is still at `version`; false when it was written again or is gone. From then on a late write
   * to the old key does not touch it.
   */
  move(from: string, to: string, version: string): Promise<boolean>;
  /** Repeating it is harmless. */
  delete(key: string): Promise<void>;
  /** Every key with this prefix last written before `before`, and what is left of writes that were cut off before it. */
  list(prefix: string, before: Date): AsyncIterable<string>;
  /** An address at which the store itself takes exactly these bytes; undefined when this store has none. */
  createUploadUrl(key: string, upload: DirectUpload): Promise<string | undefined>;
  /** Whether it answers; throws why not. */
  check(): Promise<void>;
}
