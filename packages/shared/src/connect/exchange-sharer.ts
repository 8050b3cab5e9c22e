import type { Dispatcher } from "undici";
import { exchange, type Answer, type Exchange } from "#src/connect/exchange.ts";
import { decodeFrames, encodeFrames } from "#src/connect/frames.ts";
import { IDENTITY_HEADER } from "#src/identity/token-source.ts";

/** The path of a request that carries several calls. */
export const SHARED_PATH = "/calls";
export const SHARED_TYPE = "application/x-postrider-calls";

/** A larger call is a request of its own. With `MAX_CALLS` it bounds the size of a shared one. */
const MAX_CALL_BYTES = 16 * 1024;
/** Further calls of the turn begin another request, which another replica may answer. */
const MAX_CALLS = 32;

interface Waiting {
  readonly call: Exchange;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

function timeoutError(): Error {
  return Object.assign(new Error("the deadline has passed"), { code: "UND_ERR_HEADERS_TIMEOUT" });
}

/**
 * An HTTP request costs both processes more than most calls that it carries, so the calls of one
 * turn of the event loop share a request. Each keeps its own headers, deadline and error, and its
 * answer arrives as soon as it is ready: no call waits for a slower one. A call that is alone in
 * its turn is sent as a plain RPC.
 */
export class ExchangeSharer {
  readonly #dispatcher: Dispatcher;
  #waiting: Waiting[] = [];

  constructor(dispatcher: Dispatcher) {
    this.#dispatcher = dispatcher;
  }

  async send(call: Exchange): Promise<Answer> {
    if (call.body.length > MAX_CALL_BYTES) return await exchange(this.#dispatcher, call);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting.push({ call, resolve, reject });
    if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    return await promise;
  }

  #flush(): void {
    const calls = this.#waiting;
    this.#waiting = [];
    for (let start = 0; start < calls.length; start += MAX_CALLS)
      this.#exchange(calls.slice(start, start + MAX_CALLS));
  }

  #exchange(calls: readonly Waiting[]): void {
    const [first] = calls;
    if (first === undefined) return;
    if (calls.length > 1) new SharedExchange(calls).start(this.#dispatcher, first.call);
    else exchange(this.#dispatcher, first.call).then(first.resolve, first.reject);
  }
}

/** Settles its calls one by one, while the answer arrives. */
class SharedExchange implements Dispatcher.DispatchHandler {
  readonly #open: Map<number, Waiting>;
  readonly #timers: readonly NodeJS.Timeout[];
  /** Joined when a frame is complete: a long answer would otherwise be copied with each chunk. */
  #unread: Buffer[] = [];
  #missingBytes = 0;
  /** Set if the request as a whole was refused; its body is then the error of each call. */
  #refusal: Pick<Answer, "status" | "isJson"> | undefined;

  constructor(calls: readonly Waiting[]) {
    this.#open = new Map(calls.entries());
    this.#timers = calls.map(({ call }, index) =>
      setTimeout(() => this.#take(index)?.reject(timeoutError()), call.timeoutMs),
    );
  }

  start(dispatcher: Dispatcher, { origin, headers }: Exchange): void {
    const calls = [...this.#open.values()].map(({ call }) => call);
    const timeoutMs = Math.max(...calls.map((call) => call.timeoutMs));
    const body = encodeFrames(
      calls.map((call) => {
        const { [IDENTITY_HEADER]: _shared, ...own } = call.headers;
        return { text: JSON.stringify([call.path, own]), bytes: call.body };
      }),
    );
    const identity = headers[IDENTITY_HEADER] ?? "";
    dispatcher.dispatch(
      {
        origin,
        path: SHARED_PATH,
        method: "POST",
        headers: { "content-type": SHARED_TYPE, [IDENTITY_HEADER]: identity },
        body,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      },
      this,
    );
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: unknown,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (headers["content-type"] === SHARED_TYPE) return;
    const isJson = String(headers["content-type"] ?? "").startsWith("application/json");
    this.#refusal = { status, isJson };
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#unread.push(chunk);
    this.#missingBytes -= chunk.length;
    if (this.#refusal !== undefined || this.#missingBytes > 0) return;
    const { frames, rest, missingBytes } = decodeFrames(Buffer.concat(this.#unread));
    this.#unread = [rest];
    this.#missingBytes = missingBytes;
    for (const { text, bytes: body } of frames) {
      const [index = 0, status = 0] = text.split(" ").map(Number);
      this.#take(index)?.resolve({ status, isJson: status !== 200, body });
    }
  }

  onResponseEnd(): void {
    const refusal = this.#refusal ?? { status: 502, isJson: false };
    const body = Buffer.concat(this.#unread);
    for (const index of this.#open.keys()) this.#take(index)?.resolve({ ...refusal, body });
  }

  onResponseError(_controller: unknown, error: Error): void {
    for (const index of this.#open.keys()) this.#take(index)?.reject(error);
  }

  #take(index: number): Waiting | undefined {
    const waiting = this.#open.get(index);
    this.#open.delete(index);
    clearTimeout(this.#timers[index]);
    return waiting;
  }
}
