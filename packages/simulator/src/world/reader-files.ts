/** A file that readers of a simulated platform load. */
export interface ReaderFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Maximum number of bytes of all stored files together; the oldest files are dropped first. */
const MAX_BYTES = 256_000_000;

/**
 * The received files by their SHA-256, so that tests can compare what readers load with what was sent. The files are only in
 * memory: after a restart of the simulator, earlier posts have no files.
 */
export class ReaderFiles {
  readonly #files = new Map<string, ReaderFile>();
  #bytes = 0;

  put(sha256: string, file: ReaderFile): void {
    if (file.bytes.length > MAX_BYTES || this.#files.has(sha256)) return;

    this.#files.set(sha256, file);
    this.#bytes += file.bytes.length;
    for (const [oldest, { bytes }] of this.#files) {
      if (this.#bytes <= MAX_BYTES) return;

      this.#files.delete(oldest);
      this.#bytes -= bytes.length;
    }
  }

  get(sha256: string): ReaderFile | undefined {
    return this.#files.get(sha256);
  }

  clear(): void {
    this.#files.clear();
    this.#bytes = 0;
  }
}
