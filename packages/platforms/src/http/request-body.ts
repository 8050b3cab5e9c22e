import type { PublicationMedia } from "#src/publishing/connector.ts";

/** Bytes whose number is known before the first of them is read. */
export interface ByteSource {
  /** Exact: a source that gives more or fewer breaks the call. */
  readonly bytes: number;
  /** May be asked more than once; each time from the start. */
  read(signal: AbortSignal): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;
}

/** What a request carries. A text is sent at once, a source as fast as the platform takes it and never collected. */
export interface RequestBody {
  readonly contentType: string;
  readonly content: string | ByteSource;
}

/** JSON. */
export function jsonBody(value: unknown): RequestBody {
  return { contentType: "application/json", content: JSON.stringify(value) };
}

/** `application/x-www-form-urlencoded`. */
export function formBody(fields: Readonly<Record<string, string>>): RequestBody {
  const content = new URLSearchParams(fields).toString();
  return { contentType: "application/x-www-form-urlencoded", content };
}

/** The bytes as they are, with their `content-length`. */
export function bytesBody(contentType: string, source: ByteSource): RequestBody {
  return { contentType, content: source };
}

/** A file of the post, or a part of it. */
export function mediaBytes(
  media: PublicationMedia,
  { start, length }: { readonly start: number; readonly length: number } = {
    start: 0,
    length: media.bytes,
  },
): ByteSource {
  return { bytes: length, read: (signal) => media.read({ start, length }, signal) };
}

/** How many bytes a body has. */
export function countBytes({ content }: RequestBody): number {
  return typeof content === "string" ? Buffer.byteLength(content) : content.bytes;
}
