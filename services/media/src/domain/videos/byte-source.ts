/** Random access to a file, because videos are too large to be loaded into memory. */
export interface ByteSource {
  readonly bytes: number;
  /** The bytes from `offset` on, fewer at the end of the file. The buffer is valid until the next call. */
  readonly read: (offset: number, length: number) => Buffer;
}
