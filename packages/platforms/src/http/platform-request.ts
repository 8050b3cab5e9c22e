import type { Readable } from "node:stream";

/** One HTTP request to a platform. */
export interface PlatformRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /**
   * True when the account's owner chose the host of the request. The connection is then allowed to public addresses
   * only.
   */
  readonly isForeign?: boolean;
  /** Texts that are redacted in the platform's answer, besides the credential in the `authorization` header. */
  readonly secrets?: readonly string[];
  /**
   * True for requests to token endpoints, which may return the same token that was sent. A JSON string that consists of
   * exactly one secret is then kept, and a secret inside a longer text is redacted.
   */
  readonly returnsTokens?: boolean;
  /** Maximum size in bytes of the platform's answer, for calls whose normal answers are large. */
  readonly maxAnswerBytes?: number;
  /**
   * Reads the body of an answer whose size strangers decide, and returns the part that is parsed as JSON. Then `maxAnswerBytes` does
   * not apply.
   */
  readonly readBody?: (body: AsyncIterable<Uint8Array>) => Promise<string>;
}

/** Minimum length of a secret that is redacted in answers; shorter secrets would match ordinary words. */
const MIN_SECRET_LENGTH = 8;

/** Returns the `authorization` header with an OAuth 2.0 access token. */
export function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** Returns the headers of a platform request, including those that its body needs. */
export function toHeaders(call: PlatformRequest, outgoing: OutgoingBody): Record<string, string> {
  return {
    accept: "application/json",
    "user-agent": "Postrider",
    ...call.headers,
    ...outgoing.headers,
  };
}

/**
 * Replaces the secrets of a request in the platform's answer: a platform may quote them in a message, which is stored
 * and shown.
 */
export function redact(answer: string, call: PlatformRequest): string {
  const { headers, secrets = [], returnsTokens = false } = call;
  const [, credential = ""] = (headers?.authorization ?? "").split(" ");
  let redacted = answer;
  for (const secret of [credential, ...secrets]) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    redacted = redacted.replaceAll(secret, (_match, start: number, whole: string) =>
      returnsTokens && isWholeString(whole, start, secret.length) ? secret : "***",
    );
  }
  return redacted;
}

function isWholeString(json: string, start: number, length: number): boolean {
  return json.charAt(start - 1) === '"' && json.charAt(start + length) === '"';
}

/** A source of the bytes of a request body. The number of bytes is known before the first byte is read. */
export interface ByteSource {
  /** The exact number of bytes; the platform call fails when the source yields more or fewer. */
  readonly bytes: number;
  /** Returns the bytes of the source. Each call reads them again from the first byte. */
  read(signal: AbortSignal): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;
}

/**
 * The body of a platform request. A string is sent at once; a source is streamed as fast as the platform accepts it.
 */
export interface RequestBody {
  readonly contentType: string;
  readonly content: string | ByteSource;
}

/** Creates a request body of type `application/json`. */
export function jsonBody(value: unknown): RequestBody {
  return { contentType: "application/json", content: JSON.stringify(value) };
}

/** Creates a request body of type `application/x-www-form-urlencoded`. */
export function formBody(fields: Readonly<Record<string, string>>): RequestBody {
  const content = new URLSearchParams(fields).toString();
  return { contentType: "application/x-www-form-urlencoded", content };
}

/** Creates a request body from the bytes of the source, unchanged. */
export function bytesBody(contentType: string, source: ByteSource): RequestBody {
  return { contentType, content: source };
}

export function countBytes({ content }: RequestBody): number {
  return typeof content === "string" ? Buffer.byteLength(content) : content.bytes;
}

/** The minimum upload speed in bytes per millisecond; a slower upload to a platform exceeds its deadline. */
const MIN_UPLOAD_BYTES_PER_MS = 250;

/**
 * Returns the deadline in milliseconds of a platform call that uploads `bytes` bytes; `baseMs` is its deadline without
 * an upload.
 */
export function withUploadTime(baseMs: number, bytes: number): number {
  return baseMs + Math.ceil(bytes / MIN_UPLOAD_BYTES_PER_MS);
}

/**
 * Maximum duration of a publishing call in milliseconds. Without this limit, an album of ten videos would get half an
 * hour because of its size. A stopping process waits for its publishing calls, and orchestrators do not wait that long
 * for a process to stop.
 */
export const MAX_VISIBLE_CALL_MS = 295_000;

/**
 * Maximum time in milliseconds that a process may take to stop: its longest publishing call and the time to store the
 * outcome.
 */
export const STOP_GRACE_MS = MAX_VISIBLE_CALL_MS + 5_000;

/**
 * Returns the deadline in milliseconds of a publishing call that uploads `bytes` bytes; `baseMs` is its deadline
 * without an upload.
 */
export function visibleCallTime(baseMs: number, bytes: number): number {
  return Math.min(withUploadTime(baseMs, bytes), MAX_VISIBLE_CALL_MS);
}

/**
 * The body of one platform request while it is sent. It distinguishes failures of the network from failures of the
 * body's source, and records how much of the request the platform can have received.
 */
export class OutgoingBody implements Disposable {
  /** The failure of the source that provides the request body; undefined if it has not failed. */
  failure: Error | undefined;
  /**
   * Whether a byte of the request may have been sent. The headers of a streamed request are sent together with its first
   * bytes.
   */
  isStarted: boolean;
  /** Whether the last byte of the request may have been written. */
  isComplete: boolean;
  readonly #body: RequestBody | undefined;
  readonly #ended = new AbortController();
  readonly #mayStart: () => boolean;

  /**
   * @param mayStart Called right before the first bytes of a streamed body are sent; when it returns false, nothing is
   *   sent.
   */
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

  /** The request body in the form that the HTTP client (undici) accepts. */
  get content(): string | Readable | null {
    const content = this.#body?.content ?? null;
    if (content === null || typeof content === "string") return content;
    // Undici can send any async iterable, but its TypeScript types allow only streams. Converting the iterable to a
    // stream would add another buffer.
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
        // `isStarted` must be set before the HTTP client (undici) receives the bytes, because from then on it may have
        // sent them.
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

  /** Stops reading the source of the request body, even when the request has already failed. */
  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}
