/** Bytes whose number is known before the first of them is read. */
export interface ByteSource {
  /** The exact number of bytes; the call fails when the source yields more or fewer. */
  readonly bytes: number;
  /** Reads the bytes from the start, each time that it is called. */
  read(signal: AbortSignal): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;
}

/** The body of a request. A string is sent at once; a source is streamed as fast as the platform accepts it. */
export interface RequestBody {
  readonly contentType: string;
  readonly content: string | ByteSource;
}

/** A body of type `application/json`. */
export function jsonBody(value: unknown): RequestBody {
  return { contentType: "application/json", content: JSON.stringify(value) };
}

/** A body of type `application/x-www-form-urlencoded`. */
export function formBody(fields: Readonly<Record<string, string>>): RequestBody {
  const content = new URLSearchParams(fields).toString();
  return { contentType: "application/x-www-form-urlencoded", content };
}

/** A body of the source's bytes, unchanged. */
export function bytesBody(contentType: string, source: ByteSource): RequestBody {
  return { contentType, content: source };
}

/** Returns the number of bytes of a body. */
export function countBytes({ content }: RequestBody): number {
  return typeof content === "string" ? Buffer.byteLength(content) : content.bytes;
}
