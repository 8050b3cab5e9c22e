import type { Readable } from "node:stream";
import { countBytes, type ByteSource, type RequestBody } from "./request-body.ts";

/**
 * The body of one request while it is sent. It distinguishes failures of the network from failures of the body's
 * source, and records how much of the request the platform can have received.
 */
export class OutgoingBody implements Disposable {
  /** The failure of the source; undefined if it has not failed. */
  failure: Error | undefined;
  /** Whether a byte may have been written. The headers of a stream are written together with its first bytes. */
  isStarted: boolean;
  /** Whether the last byte may have been written. */
  isComplete: boolean;
  readonly #body: RequestBody | undefined;
  readonly #ended = new AbortController();
  readonly #mayStart: () => boolean;

  /** @param mayStart Called right before the first bytes of a stream are written; false sends nothing. */
  constructor(body: RequestBody | undefined, mayStart: () => boolean = () => true) {
    this.#body = body;
    this.#mayStart = mayStart;
    const isStream = typeof body?.content === "object";
    this.isStarted = !isStream;
    this.isComplete = !isStream;
  }

  get headers(): Readonly<Record<string, string>> {
    if (this.#body === undefined) return {};
    const length = String(countBytes(this.#body));
    return { "content-type": this.#body.contentType, "content-length": length };
  }

  /** The body in the form that undici sends. */
  get content(): string | Readable | null {
    const content = this.#body?.content ?? null;
    if (content === null || typeof content === "string") return content;
    // Undici can send any async iterable, but its types allow only streams. A stream would add another buffer.
    return this.#stream(content) as unknown as Readable;
  }

  async *#stream(source: ByteSource): AsyncGenerator<Uint8Array> {
    try {
      let sent = 0;
      for await (const chunk of await source.read(this.#ended.signal)) {
        sent += chunk.length;
        if (sent > source.bytes) throw new Error("the source is longer than its declared size");
        if (!this.isStarted && !this.#mayStart())
          throw new Error(
            "the call must not be sent, because its recorded start (mark) is too old",
          );
        // Must be set before the bytes are passed to undici, because from then on they may have been written.
        this.isStarted = true;
        this.isComplete = sent === source.bytes;
        yield chunk;
      }
      if (sent < source.bytes) throw new Error("the source is shorter than its declared size");
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  /** Stops reading the source, even when the request has already failed. */
  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}
