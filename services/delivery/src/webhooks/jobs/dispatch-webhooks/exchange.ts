import { OutboundError } from "@postrider/shared/http/outbound-exchange";
import type { Client, Dispatcher } from "undici";
import type { AttemptError } from "#src/webhooks/domain/attempt.ts";

/** Number of bytes of a webhook response body that are kept. */
export const MAX_BODY_BYTES = 16 * 1024;
/**
 * How much more of a longer body is read, and for how long, because its connection can be used
 * again only after its end: a new connection costs five times as much CPU as the attempt itself.
 */
const MAX_SKIPPED_BYTES = 48 * 1024;
const SKIPPING_MS = 200;
/** Informational responses (1xx) before the actual response after which the exchange fails. */
const MAX_INFORMATIONAL = 10;
/** Makes undici stop at once: bytes that have arrived may contain thousands of further chunks. */
const TOO_MUCH = new Error("the receiver of a webhook sent more bytes than Postrider reads");

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface ExchangeEnd {
  /** Undefined after a response that ended, or whose body has more than `MAX_BODY_BYTES`. */
  readonly error: AttemptError | undefined;
  readonly response:
    | { readonly status: number; readonly headers: ResponseHeaders; readonly body: Buffer }
    | undefined;
  readonly isReusable: boolean;
}

export interface ExchangeRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly totalMs: number;
}

function errorOf(error: unknown): AttemptError {
  if (error instanceof ConnectFailure) return error.code;
  const isOverflow =
    error instanceof Error && "code" in error && error.code === "UND_ERR_HEADERS_OVERFLOW";
  return isOverflow ? "too_large_headers" : "connection_failed";
}

/** Ends with the first of: the end of the response, enough of its body, an error, the deadline. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly ended: Promise<ExchangeEnd>;
  readonly #resolve: (end: ExchangeEnd) => void;
  #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #informational = 0;
  #isEnded = false;
  #head: { readonly status: number; readonly headers: ResponseHeaders } | undefined;

  constructor(totalMs: number) {
    const { promise, resolve } = Promise.withResolvers<ExchangeEnd>();
    this.ended = promise;
    this.#resolve = resolve;
    this.#timer = setTimeout(
      () => this.#end(this.#head === undefined ? "timeout" : "body_timeout"),
      totalMs,
    );
  }

  // undici calls each of these methods and requires this one.
  // oxlint-disable-next-line eslint/no-empty-function, eslint/class-methods-use-this
  onRequestStart(): void {}

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    if (status >= 200) this.#head = { status, headers };
    else if ((this.#informational += 1) > MAX_INFORMATIONAL) {
      this.#end("connection_failed");
      controller.abort(TOO_MUCH);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const missing = MAX_BODY_BYTES - this.#bytes;
    this.#bytes += chunk.length;
    if (missing > 0) this.#chunks.push(Buffer.from(chunk.subarray(0, missing)));
    if (chunk.length <= missing) return;
    if (this.#bytes > MAX_BODY_BYTES + MAX_SKIPPED_BYTES) this.#stopReading(controller);
    else if (missing >= 0) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#stopReading(controller), SKIPPING_MS);
    }
  }

  #stopReading(controller: Dispatcher.DispatchController): void {
    this.#end(undefined);
    controller.abort(TOO_MUCH);
  }

  onResponseEnd(): void {
    this.#end(undefined, true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    this.#end(this.#bytes > MAX_BODY_BYTES ? undefined : errorOf(error));
  }

  #end(error: AttemptError | undefined, isReusable = false): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    const body = Buffer.concat(this.#chunks);
    const response = this.#head === undefined ? undefined : { ...this.#head, body };
    this.#resolve({ error, response, isReusable });
  }
}

/**
 * Sends a webhook as a POST over a connection. The promise never rejects, and takes at most
 * `SKIPPING_MS` longer than the deadline. The caller closes a connection that is not reusable
 * afterwards.
 */
export async function exchange(
  client: Client,
  { path, headers, body, totalMs }: ExchangeRequest,
): Promise<ExchangeEnd> {
  const running = new Exchange(totalMs);
  try {
    client.dispatch({ method: "POST", path, headers, body }, running);
  } catch (error) {
    running.fail(error);
  }
  return await running.ended;
}

const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_|EPROTO$)/;

export class ConnectFailure extends Error {
  override name = "ConnectFailure";
  readonly code: AttemptError;

  constructor(code: AttemptError, cause: unknown) {
    super(`the receiver could not be reached: ${code}`, { cause });
    this.code = code;
  }
}

function codeOf({ failure, cause, isResolved }: OutboundError): AttemptError {
  if (isResolved) return "dns_failed";
  if (failure === "address_not_allowed" || failure === "url_invalid") return "address_not_allowed";
  if (!(cause instanceof Error)) return "connection_failed";
  const code = "code" in cause ? String(cause.code) : "";
  if (TLS_CODE.test(code)) return "tls_failed";
  const isTimeout = cause.name === "TimeoutError" || cause.message.endsWith("in time");
  return isTimeout || code === "ETIMEDOUT" ? "timeout" : "connection_failed";
}

/** An error that is not an `OutboundError` comes from the DNS. */
export function toConnectFailure(error: Error): ConnectFailure {
  return new ConnectFailure(error instanceof OutboundError ? codeOf(error) : "dns_failed", error);
}
