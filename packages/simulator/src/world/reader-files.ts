export interface ReaderFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

const MAX_BYTES = 256_000_000;

/** Only in memory: after a restart of the simulator, earlier posts have no files. */
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
