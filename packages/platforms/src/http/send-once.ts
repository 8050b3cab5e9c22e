import { inClientSpan } from "@postrider/shared/http/spans";
import { Client, type Dispatcher } from "undici";
import type { NoAnswer } from "./call-platform.ts";
import { CONNECT_TIMEOUT_MS, connectForeign } from "./foreign-hosts.ts";
import { describeFailure, type PlatformAnswer, toAnswer } from "./platform-answer.ts";
import {
  answerLimit,
  OutgoingBody,
  type PlatformRequest,
  redact,
  toHeaders,
} from "./platform-request.ts";

/** The condition under which a publishing call may still be sent, and the deadline of the call. */
export interface SendGuard {
  /**
   * False when the recorded intent to make the call (the mark) is too old; then no byte may be
   * sent.
   */
  mayStillSend(): boolean;
  readonly timeoutMs: number;
}

/**
 * The two clocks of a process, in milliseconds. The monotonic clock stops while the machine is
 * suspended; an operator can set the wall clock.
 */
export interface Clocks {
  monotonic(): number;
  wall(): number;
}

export const PROCESS_CLOCKS: Clocks = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
};

/** Between the creation of a guard and the first byte of the call. */
const MAX_AGE_MS = 5_000;
/** As a fraction of the call's maximum duration, if that is shorter. */
const MAX_AGE_PART = 1 / 12;

/**
 * Must be created before the start and the latest end of the call are recorded. Then a call that
 * respects `timeoutMs` ends before its recorded end.
 */
export function createSendGuard(clocks: Clocks, visibleCallMs: number): SendGuard {
  const monotonic = clocks.monotonic();
  const wall = clocks.wall();
  const maxAgeMs = Math.min(MAX_AGE_MS, visibleCallMs * MAX_AGE_PART);
  return {
    mayStillSend: () =>
      clocks.monotonic() - monotonic < maxAgeMs && Math.abs(clocks.wall() - wall) < maxAgeMs,
    get timeoutMs() {
      return Math.max(1, Math.floor(visibleCallMs - (clocks.monotonic() - monotonic)));
    },
  };
}

/** The recorded intent to make the call (the mark) was too old. */
export interface NotSent {
  readonly kind: "not_sent";
}

export interface NotConnected {
  readonly kind: "not_connected";
  readonly message: string;
}

/**
 * The result of a publishing call that got no readable answer. A server treats an interrupted
 * request as incomplete (RFC 9112, section 8), but a platform that processes a form while it
 * receives it may already have acted on the first part. The outcome is therefore unknown, unless
 * the platform's protocol requires the last byte.
 */
export interface NoAnswerToVisible extends NoAnswer {
  readonly isComplete: boolean;
}

export type SendResult = PlatformAnswer | NotConnected | NoAnswerToVisible | NotSent;

/**
 * Receives the answer to one publishing call, and records whether the first byte may have been
 * sent. If not, the post certainly does not exist; otherwise it may exist. Undici, the HTTP client,
 * calls `onRequestStart` when it has a connection and before it sends anything; aborting there
 * sends nothing. It sends nothing of a stream before the first bytes of the body are read, so
 * `mayStillSend` is checked again at that point.
 */
class VisibleCall implements Dispatcher.DispatchHandler {
  readonly result: Promise<SendResult>;
  readonly outgoing: OutgoingBody;
  readonly #resolve: (result: SendResult) => void;
  readonly #guard: SendGuard;
  readonly #call: PlatformRequest;
  #controller: Dispatcher.DispatchController | undefined;
  #refused = false;
  #timedOut = false;
  #status = 0;
  #headers: PlatformAnswer["headers"] = {};
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(call: PlatformRequest, guard: SendGuard) {
    const { promise, resolve } = Promise.withResolvers<SendResult>();
    this.result = promise;
    this.#resolve = resolve;
    this.#guard = guard;
    this.#call = call;
    this.outgoing = new OutgoingBody(call.body, () => this.#mayStart());
  }

  #mayStart(): boolean {
    this.#refused = this.#timedOut || !this.#guard.mayStillSend();
    return !this.#refused;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#mayStart()) this.#controller = controller;
    else
      controller.abort(
        new Error("the call was not sent, because its recorded start (mark) is too old"),
      );
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: PlatformAnswer["headers"],
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > answerLimit(this.#call))
      controller.abort(new Error("the answer is too large"));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const text = Buffer.concat(this.#chunks).toString("utf8");
    this.#resolve(toAnswer(this.#status, this.#headers, redact(text, this.#call)));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isSourceFailure = this.outgoing.failure !== undefined;
    this.fail(isSourceFailure ? "the media could not be read to its end" : describeFailure(error));
  }

  fail(message: string): void {
    const { isStarted, isComplete } = this.outgoing;
    if (this.#refused) this.#resolve({ kind: "not_sent" });
    else if (this.#controller === undefined || !isStarted)
      this.#resolve({ kind: "not_connected", message });
    else this.#resolve({ kind: "no_answer", message, isComplete });
  }

  timeOut(): void {
    this.#timedOut = true;
    this.#controller?.abort(new Error("the call had no answer in time"));
    this.fail("the platform did not answer in time");
  }
}

/** One for all calls: undici makes an error for each client that it destroys without one. */
const ENDED = new Error("the call has ended");

/**
 * Sends the publishing call once, on a new connection: a stale pooled connection would break after
 * the first byte and make the outcome unknown. Aborting the request does not undo it at the
 * platform, so a time-out after the first byte is `no_answer`. Media in the body should already be
 * on the local disk (`PublishingConnector.visibleParts`).
 */
export async function sendOnce(call: PlatformRequest, guard: SendGuard): Promise<SendResult> {
  const url = new URL(call.url);
  const client = new Client(url.origin, {
    ...(call.isForeign === true
      ? { connect: connectForeign }
      : { connectTimeout: CONNECT_TIMEOUT_MS }),
    // The timer below is the only deadline of the publishing call. After a pause of the process,
    // undici's own timers would end the call before undici reads an answer that has already
    // arrived.
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
    // Undici sends a request again when a server refuses its HTTP/2 stream. Whether the server has
    // not acted on the request then depends on the server alone.
    allowH2: false,
  });
  const visible = new VisibleCall(call, guard);
  using outgoing = visible.outgoing;
  // After a pause of the process, this timer may fire although the answer has already arrived. The
  // socket is therefore read once more before the call times out.
  let timer = setTimeout(() => {
    timer = setTimeout(() => visible.timeOut(), 100);
  }, guard.timeoutMs);
  try {
    client.dispatch(
      {
        method: call.method,
        path: url.pathname + url.search,
        headers: toHeaders(call, outgoing),
        body: outgoing.content,
      },
      visible,
    );
    return await inClientSpan(call, () => visible.result, { "postrider.visible": true });
  } finally {
    clearTimeout(timer);
    void client.destroy(ENDED).catch(() => undefined);
  }
}
