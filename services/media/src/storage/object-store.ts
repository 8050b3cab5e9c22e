/** A part of an object; without `length` it goes to the end. What lies beyond the end is left out. */
export interface ByteRange {
  readonly start: number;
  readonly length?: number;
}

/** An object as it is stored. */
export interface StoredObject {
  /** Of the whole object, also where only a part is read. */
  readonly bytes: number;
  /**
   * Changes whenever the key is written with other bytes. A store may derive it from the bytes by MD5, which whoever
   * writes both can forge: what a client may still write is moved first and checked afterwards.
   */
  readonly version: string;
}

/** What an upload to the store itself is bound to. */
export interface DirectUpload {
  readonly contentType: string;
  readonly bytes: number;
  readonly expiresAt: Date;
}

/**
 * Where the bytes of media are. Keys are ours (`uploads/<id>`, `objects/<id>`, …; `object-key.ts` says how they look),
 * never a client's. An object is there whole or not at all: what is cut off while being written leaves nothing that
 * `open` or `stat` can see. One suite tests every adapter: `test/object-store.test.ts`.
 */
export interface ObjectStore extends AsyncDisposable {
  /**
   * Writes an object, or replaces it; durable when it returns. Little is collected in memory, which is why the source must not
   * change a piece that it has given. It throws the signal's reason, and what `bytes` throws; a signal that comes after the last byte may come too late.
   */
  put(key: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<StoredObject>;
  /** The bytes as they come; undefined when there is no such object. Whoever opens reads to the end or breaks off. */
  open(
    key: string,
    range?: ByteRange,
    signal?: AbortSignal,
  ): Promise<(StoredObject & { readonly content: AsyncIterable<Uint8Array> }) | undefined>;
  stat(key: string): Promise<StoredObject | undefined>;
  /**
   * Renames an object if it is still at `version`, replacing what is at `to`; false when it was written again or is
   * gone. From then on a late write to the old key does not touch it. One at this very moment stays at the old key or is
   * dropped; it never gets to `to`. After a crash both keys may be there: repeating the move ends it.
   */
  move(from: string, to: string, version: string): Promise<boolean>;
  /** Repeating it is harmless. */
  delete(key: string): Promise<void>;
  /** Every key with this prefix last written, or moved to, before `before`. */
  list(prefix: string, before: Date): AsyncIterable<string>;
  /**
   * Removes what is left of writes that were cut off before `before`. It belongs to no key: the object may have been
   * written again since, and be in use.
   *
   * @returns How many there were.
   */
  removeUnfinished(before: Date): Promise<number>;
  /** An address at which the store itself takes exactly these bytes; undefined when this store has none. */
  createUploadUrl(key: string, upload: DirectUpload): Promise<string | undefined>;
  /** Whether it answers; throws why not. */
  check(): Promise<void>;
}
