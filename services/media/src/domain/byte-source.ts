/** A file that is read in places: films are too large to hold. */
export interface ByteSource {
  readonly bytes: number;
  /** The bytes from `offset` on; fewer at the end of the file. Valid until the next call. */
  readonly read: (offset: number, length: number) => Buffer;
}
