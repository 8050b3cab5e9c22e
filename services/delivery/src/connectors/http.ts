import { Agent, Client, request, type Dispatcher } from "undici";
import { describeFailure } from "#src/connectors/network-failure.ts";
import type { SendGuard } from "#src/domain/connector.ts";

/** A platform's answer. `json` is undefined when the body is no JSON object. */
export interface PlatformAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

/** No connection was made, or it broke before the first byte: certainly nothing happened there. */
export interface NotConnected {
  readonly kind: "not_connected";
  readonly message: string;
}

/** The request left, at least in part, and no readable answer came. */
export interface NoAnswer {
  readonly kind: "no_answer";
  readonly message: string;
}

export interface PlatformRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** No answer of these APIs comes near it; more is a broken or hostile host. */
const MAX_BODY_BYTES = 1024 * 1024;
const CONNECT_TIMEOUT_MS = 5000;

/** Invisible calls may share connections; visible ones never do (`sendOnce`). */
const agent = new Agent({
  connections: 32,
  connectTimeout: CONNECT_TIMEOUT_MS,
  headersTimeout: 30_000,
  bodyTimeout: 30_000,
});

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function encode(call: PlatformRequest): {
  readonly headers: Record<string, string>;
  readonly body: string | null;
} {
  const headers: Record<string, string> = {
    accept: "application/json",
    "user-agent": "Postrider",
    ...call.headers,
  };
  if (call.body === undefined) return { headers, body: null };
  return {
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(call.body),
  };
}

/** A call that makes nothing visible. It is not retried here either: the core decides. */
export async function callPlatform(
  call: PlatformRequest,
  signal: AbortSignal,
): Promise<PlatformAnswer | NoAnswer> {
  const { headers, body } = encode(call);
  try {
    const answer = await request(call.url, {
      method: call.method,
      headers,
      body,
      signal,
      dispatcher: agent,
    });
    const text = await answer.body.text();
    return {
      kind: "answer",
      status: answer.statusCode,
      headers: answer.headers,
      json: parseObject(text),
    };
  } catch (error) {
    return { kind: "no_answer", message: describeFailure(error) };
  }
}

type SendResult = PlatformAnswer | NotConnected | NoAnswer | { readonly kind: "not_sent" };

/**
 * Receives one answer and remembers what makes the difference between "certainly nothing happened" and "it may have":
 * whether the connection stood and the first byte was about to leave. Undici calls `onRequestStart` right before it
 * writes, with the connection made; aborting there sends nothing.
 */
class VisibleCall implements Dispatcher.DispatchHandler {
  readonly result: Promise<SendResult>;
  readonly #resolve: (result: SendResult) => void;
  readonly #guard: SendGuard;
  #controller: Dispatcher.DispatchController | undefined;
  #refused = false;
  #timedOut = false;
  #status = 0;
  #headers: PlatformAnswer["headers"] = {};
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(guard: SendGuard) {
    const { promise, resolve } = Promise.withResolvers<SendResult>();
    this.result = promise;
    this.#resolve = resolve;
    this.#guard = guard;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#timedOut || !this.#guard.mayStillSend()) {
      this.#refused = true;
      controller.abort(new Error("the mark is too old"));
      return;
    }
    this.#controller = controller;
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
    if (this.#size > MAX_BODY_BYTES) controller.abort(new Error("the answer is too long"));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const text = Buffer.concat(this.#chunks).toString("utf8");
    this.#resolve({
      kind: "answer",
      status: this.#status,
      headers: this.#headers,
      json: parseObject(text),
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(describeFailure(error));
  }

  /** Ends the call without an answer. Only before the first byte may it be called not sent. */
  fail(message: string): void {
    if (this.#refused) this.#resolve({ kind: "not_sent" });
    else if (this.#controller === undefined) this.#resolve({ kind: "not_connected", message });
    else this.#resolve({ kind: "no_answer", message });
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
 */
export async function sendOnce(call: PlatformRequest, guard: SendGuard): Promise<SendResult> {
  const { headers, body } = encode(call);
  const url = new URL(call.url);
  const client = new Client(url.origin, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    // The timer below is the only deadline: undici's own would fire before the socket is read.
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
  });
  const visible = new VisibleCall(guard);
  // A process that stood still finds its timers due and the answer in the socket: the socket is read first.
  let timer = setTimeout(() => {
    timer = setTimeout(() => visible.timeOut(), 100);
  }, guard.timeoutMs);
  try {
    client.dispatch(
      {
        method: call.method,
        path: url.pathname + url.search,
        headers: { ...headers, connection: "close" },
        body,
      },
      visible,
    );
    return await visible.result;
  } finally {
    clearTimeout(timer);
    void client.destroy().catch(() => undefined);
  }
}

/** A header with one value. */
export function header(answer: PlatformAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** A property that is a string, or undefined. */
export function text(object: unknown, name: string): string | undefined {
  if (!isObject(object)) return undefined;
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}

/** A property that is an object, or undefined. */
export function object(
  value: unknown,
  name: string,
): Readonly<Record<string, unknown>> | undefined {
  const found = isObject(value) ? value[name] : undefined;
  return isObject(found) ? found : undefined;
}

/** A property that is a list, or an empty one. */
export function list(value: unknown, name: string): readonly unknown[] {
  const found = isObject(value) ? value[name] : undefined;
  return Array.isArray(found) ? found : [];
}

/** What a platform said, short enough to store and show. */
export function shorten(message: string | undefined): string {
  const line = (message ?? "").replaceAll(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
