import type { Readable } from "node:stream";
import { countBytes, type ByteSource, type RequestBody } from "./request-body.ts";

/**
 * One body on its way out. It tells apart what the network did from what broke on our side, and knows how much of the
 * request the platform can have seen.
 */
export class Outgoing implements Disposable {
  /** What broke on our side; undefined while nothing did. */
  failure: Error | undefined;
  /** Whether something may have been written. A stream's headers leave together with its first bytes. */
  isStarted: boolean;
  /** Whether the last byte may have been written. */
  isComplete: boolean;
  readonly #body: RequestBody | undefined;
  readonly #ended = new AbortController();
  readonly #mayStart: () => boolean;

  /** @param mayStart Asked right before the first bytes of a stream leave. */
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

  /** What undici is to send. */
  get content(): string | Readable | null {
    const content = this.#body?.content ?? null;
    if (content === null || typeof content === "string") return content;
    // Undici sends any async iterable; its types name streams only, which would buffer once more.
    return this.#stream(content) as unknown as Readable;
  }

  async *#stream(source: ByteSource): AsyncGenerator<Uint8Array> {
    try {
      let sent = 0;
      for await (const chunk of await source.read(this.#ended.signal)) {
        sent += chunk.length;
        if (sent > source.bytes) throw new Error("the source is longer than it said");
        if (!this.isStarted && !this.#mayStart()) throw new Error("too late to begin");
        // Before the bytes are given away: from then on nobody can say that they did not leave.
        this.isStarted = true;
        this.isComplete = sent === source.bytes;
        yield chunk;
      }
      if (sent < source.bytes) throw new Error("the source is shorter than it said");
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  /** Ends the reading, also one that nobody waits for any more. */
  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}
