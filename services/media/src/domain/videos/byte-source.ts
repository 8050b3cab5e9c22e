/** Random access, because videos are too large for memory. */
export interface ByteSource {
  readonly bytes: number;
  /** Fewer bytes at the end of the file. The buffer is valid until the next call. */
  readonly read: (offset: number, length: number) => Buffer;
}
