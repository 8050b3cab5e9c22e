import { inClientSpan } from "@postrider/shared/http/client-span";
import { Client, type Dispatcher } from "undici";
import type { Failure, NotSent, SendGuard, Unknown } from "#src/publishing/connector.ts";
import {
  CONNECT_TIMEOUT_MS,
  connectPublic,
  secretsOf,
  toHeaders,
  type NoAnswer,
  type PlatformRequest,
} from "./http.ts";
import { describeFailure } from "./network-failure.ts";
import { Outgoing } from "./outgoing.ts";
import { MAX_ANSWER_BYTES, toAnswer, type PlatformAnswer } from "./platform-answer.ts";

/** No connection was made, or it broke before the first byte: certainly nothing happened there. */
export interface NotConnected {
  readonly kind: "not_connected";
  readonly message: string;
}

/**
 * No readable answer to a visible call. A request that broke off on its way, on whichever side, is incomplete to a
 * server (RFC 9112, section 8), but a platform that reads forms as they come may have acted on what it had. So this is
 * an unknown outcome unless the platform's own protocol makes the last byte decisive.
 */
export interface NoAnswerToVisible extends NoAnswer {
  /** Whether the last byte of the request may have left. */
  readonly isComplete: boolean;
}

export type SendResult = PlatformAnswer | NotConnected | NoAnswerToVisible | NotSent;

/**
 * Receives one answer and remembers what makes the difference between "certainly nothing happened" and "it may have":
 * whether the connection stood and the first byte was about to leave. Undici calls `onRequestStart` right before it
 * writes, with the connection made; aborting there sends nothing. Of a stream it writes nothing before the first bytes
 * of the body are there, and these are asked for once more.
 */
class VisibleCall implements Dispatcher.DispatchHandler {
  readonly result: Promise<SendResult>;
  readonly outgoing: Outgoing;
  readonly #resolve: (result: SendResult) => void;
  readonly #guard: SendGuard;
  readonly #secrets: readonly string[];
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
    this.#secrets = secretsOf(call);
    this.outgoing = new Outgoing(call.body, () => this.#mayStart());
  }

  #mayStart(): boolean {
    this.#refused = this.#timedOut || !this.#guard.mayStillSend();
    return !this.#refused;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#mayStart()) this.#controller = controller;
    else controller.abort(new Error("the mark is too old"));
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
    if (this.#size > MAX_ANSWER_BYTES) controller.abort(new Error("the answer is too long"));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const text = Buffer.concat(this.#chunks).toString("utf8");
    this.#resolve(toAnswer(this.#status, this.#headers, text, this.#secrets));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isOurs = this.outgoing.failure !== undefined;
    this.fail(isOurs ? "the media broke off while it was sent" : describeFailure(error));
  }

  /** Ends the call without an answer. Only before the first byte may it be called not sent. */
  fail(message: string): void {
    const { isStarted, isComplete } = this.outgoing;
    if (this.#refused) this.#resolve({ kind: "not_sent" });
    else if (this.#controller === undefined || !isStarted)
      this.#resolve({ kind: "not_connected", message });
    else this.#resolve({ kind: "no_answer", message, isComplete });
  }

  timeOut(): void {
    this.#timedOut = true;
    this.#controller?.abort(new Error("no answer in time"));
    this.fail("the platform did not answer in time");
  }
}

/**
 * Sends the visible call: once, on a connection of its own. A stale pooled socket would break after the first byte and
 * make an unknown outcome out of nothing. An abort is not a cancel, so a time-out after the first byte is `no_answer`.
 * Media that it carries should be on this machine already (`Connector.visibleParts`).
 */
export async function sendOnce(call: PlatformRequest, guard: SendGuard): Promise<SendResult> {
  const url = new URL(call.url);
  const client = new Client(url.origin, {
    ...(call.isForeign === true
      ? { connect: connectPublic }
      : { connectTimeout: CONNECT_TIMEOUT_MS }),
    // The timer below is the only deadline: undici's own would fire before the socket is read.
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
  });
  const visible = new VisibleCall(call, guard);
  using outgoing = visible.outgoing;
  // A process that stood still finds its timers due and the answer in the socket: the socket is read first.
  let timer = setTimeout(() => {
    timer = setTimeout(() => visible.timeOut(), 100);
  }, guard.timeoutMs);
  try {
    client.dispatch(
      {
        method: call.method,
        path: url.pathname + url.search,
        headers: { ...toHeaders(call, outgoing), connection: "close" },
        body: outgoing.content,
      },
      visible,
    );
    return await inClientSpan(call, () => visible.result, { "postrider.visible": true });
  } finally {
    clearTimeout(timer);
    void client.destroy().catch(() => undefined);
  }
}

/** What a visible call without an answer comes to on a platform that has no proof of its own. */
export function toUnanswered(
  sent: Exclude<SendResult, PlatformAnswer>,
): NotSent | Failure | Unknown {
  switch (sent.kind) {
    case "not_sent":
      return { kind: "not_sent" };
    case "not_connected":
      return { kind: "retryable", code: "platform_unavailable", message: sent.message };
    case "no_answer":
      return { kind: "unknown", message: sent.message };
  }
}
