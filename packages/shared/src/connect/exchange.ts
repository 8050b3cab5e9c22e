import type { Dispatcher } from "undici";

export interface Exchange {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
  readonly timeoutMs: number;
}

export interface Answer {
  readonly status: number;
  readonly isJson: boolean;
  readonly body: Uint8Array;
}

const TIMEOUTS = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/** Before the first byte of the answer: reads are retried, other RPCs only if nothing was sent. */
const CONNECTION_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_CLOSED",
  "UND_ERR_DESTROYED",
]);

/** Failures before a connection exists: the peer has received nothing. */
const NO_CONNECTION_CODES = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    codes.has(error.code)
  );
}

export function isConnectionError(error: unknown): boolean {
  return hasCode(error, CONNECTION_CODES);
}

export function isUnsent(error: unknown): boolean {
  return hasCode(error, NO_CONNECTION_CODES);
}

export function isTimeout(error: unknown): boolean {
  return hasCode(error, TIMEOUTS);
}

class AnswerHandler implements Dispatcher.DispatchHandler {
  #status = 0;
  #isJson = false;
  #chunks: Buffer[] = [];
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: Error) => void;

  constructor(resolve: (answer: Answer) => void, reject: (error: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: unknown,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#isJson = String(headers["content-type"] ?? "").startsWith("application/json");
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const body =
      this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, isJson: this.#isJson, body });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#reject(error);
  }
}

/** Reads the whole answer, without streams or abort signals. undici's timeout is the deadline. */
export async function exchange(dispatcher: Dispatcher, call: Exchange): Promise<Answer> {
  return await new Promise<Answer>((resolve, reject) => {
    dispatcher.dispatch(
      {
        origin: call.origin,
        path: call.path,
        method: "POST",
        headers: call.headers,
        body: call.body,
        headersTimeout: call.timeoutMs,
        bodyTimeout: call.timeoutMs,
      },
      new AnswerHandler(resolve, reject),
    );
  });
}
