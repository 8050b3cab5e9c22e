import type { Readable } from "node:stream";
import { MAX_ANSWER_BYTES, MAX_FOREIGN_ANSWER_BYTES } from "./platform-answer.ts";

export interface PlatformRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /**
   * The account's owner chose the host: the connection is then allowed to public addresses only.
   */
  readonly isForeign?: boolean;
  readonly secrets?: readonly string[];
  /**
   * For token endpoints, which may return the same token that was sent. A JSON string that consists
   * of exactly one secret is then kept.
   */
  readonly returnsTokens?: boolean;
  readonly maxAnswerBytes?: number;
  /** Reads answers whose size strangers decide. With it, `maxAnswerBytes` does not apply. */
  readonly readBody?: (body: AsyncIterable<Uint8Array>) => Promise<string>;
}

export function answerLimit({ maxAnswerBytes, isForeign }: PlatformRequest): number {
  return maxAnswerBytes ?? (isForeign === true ? MAX_FOREIGN_ANSWER_BYTES : MAX_ANSWER_BYTES);
}

/** Shorter secrets would match ordinary words. */
const MIN_SECRET_LENGTH = 8;

export function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** A field that is undefined is left out. */
export type Query = Readonly<Record<string, string | undefined>>;

export function toSearch(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

export function toHeaders(call: PlatformRequest, outgoing: OutgoingBody): Record<string, string> {
  return {
    accept: "application/json",
    "user-agent": "Postrider",
    ...call.headers,
    ...outgoing.headers,
  };
}

/** A platform may quote secrets in a message, which is stored and shown. */
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

export interface ByteSource {
  /** The call fails when the source yields more or fewer bytes. */
  readonly bytes: number;
  read(signal: AbortSignal): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;
}

/** A source is streamed as fast as the platform accepts it. */
export interface RequestBody {
  readonly contentType: string;
  readonly content: string | ByteSource;
}

export function jsonBody(value: unknown): RequestBody {
  return { contentType: "application/json", content: JSON.stringify(value) };
}

export function formBody(fields: Readonly<Record<string, string>>): RequestBody {
  const content = new URLSearchParams(fields).toString();
  return { contentType: "application/x-www-form-urlencoded", content };
}

export function bytesBody(contentType: string, source: ByteSource): RequestBody {
  return { contentType, content: source };
}

export function countBytes({ content }: RequestBody): number {
  return typeof content === "string" ? Buffer.byteLength(content) : content.bytes;
}

/** A slower upload exceeds its deadline. */
const MIN_UPLOAD_BYTES_PER_MS = 250;

/** `baseMs` = the deadline without an upload. */
export function withUploadTime(baseMs: number, bytes: number): number {
  return baseMs + Math.ceil(bytes / MIN_UPLOAD_BYTES_PER_MS);
}

/**
 * An album of ten videos would get half an hour because of its size; a stopping process waits for
 * its publishing calls, and orchestrators do not wait that long.
 */
export const MAX_VISIBLE_CALL_MS = 295_000;

/** Duration of the longest publishing call plus the time to store its outcome. */
export const STOP_GRACE_MS = MAX_VISIBLE_CALL_MS + 5_000;

export function visibleCallTime(baseMs: number, bytes: number): number {
  return Math.min(withUploadTime(baseMs, bytes), MAX_VISIBLE_CALL_MS);
}

/**
 * Distinguishes failures of the network from failures of the body's source, and records how much of
 * the request the platform can have received.
 */
export class OutgoingBody implements Disposable {
  failure: Error | undefined;
  /** The headers of a streamed request are sent together with its first bytes. */
  isStarted: boolean;
  isComplete: boolean;
  readonly #body: RequestBody | undefined;
  /** Only for a stream: to abort costs more than to send a small text. */
  #ended: AbortController | undefined;
  readonly #mayStart: () => boolean;

  /**
   * Called right before the first bytes of a streamed body are sent; when it returns false, nothing
   * is sent.
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

  get content(): string | Readable | null {
    const content = this.#body?.content ?? null;
    if (content === null || typeof content === "string") return content;
    // Undici can send any async iterable, but its types allow only streams, which would add another
    // buffer.
    this.#ended = new AbortController();
    return this.#stream(content, this.#ended.signal) as unknown as Readable;
  }

  async *#stream(source: ByteSource, ended: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      let sent = 0;
      for await (const chunk of await source.read(ended)) {
        sent += chunk.length;
        if (sent > source.bytes) throw new Error("the source is longer than its declared size");
        if (!this.isStarted && !this.#mayStart())
          throw new Error(
            "the call must not be sent, because its recorded start (mark) is too old",
          );
        // Set before undici receives the bytes, because from then on it may have sent them.
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

  [Symbol.dispose](): void {
    this.#ended?.abort();
  }
}
