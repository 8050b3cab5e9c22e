/** Reads any range of a video file, because videos are too large to be loaded into memory. */
export interface ByteSource {
  readonly bytes: number;
  /**
   * Returns up to `length` bytes of the file from `offset` on, fewer at the end of the file. The buffer is valid until
   * the next call of `read`.
   */
  readonly read: (offset: number, length: number) => Buffer;
}
