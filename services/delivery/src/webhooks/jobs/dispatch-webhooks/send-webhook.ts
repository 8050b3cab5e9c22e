import { openSpan } from "@postrider/shared/tracing/tracing";
import type { QueuedDelivery } from "#src/webhooks/db/queue.ts";
import type { Attempt, AttemptError } from "#src/webhooks/domain/attempt.ts";
import { toSignedHeaders } from "#src/webhooks/domain/signature.ts";
import {
  exchange,
  type ExchangeEnd,
  type ExchangeRequest,
  MAX_BODY_BYTES,
  type ResponseHeaders,
} from "./exchange.ts";
import type { ReceiverConnections } from "./receiver-connections.ts";
import type { Receiver } from "./receivers.ts";

export interface SendOptions {
  readonly connections: ReceiverConnections;
  readonly attemptMs: number;
}

function errorOf({ error, response }: ExchangeEnd): AttemptError | null {
  if (response === undefined) return error ?? "connection_failed";
  const { status } = response;
  if (status >= 300 && status < 400) return "redirect_refused";
  if (status >= 300) return "http_error";
  return error ?? null;
}

/**
 * Sends a webhook request. If a connection that was used before breaks without a response, the
 * request is sent once more over a new one: receivers close idle connections at any time, which
 * says nothing about whether they work.
 */
async function post(
  { connections }: SendOptions,
  owner: { readonly subscriptionId: string; readonly origin: string },
  request: ExchangeRequest,
): Promise<ExchangeEnd> {
  const startedAt = performance.now();
  let connection = connections.acquire(owner);
  for (;;) {
    const totalMs = Math.max(1, request.totalMs - (performance.now() - startedAt));
    const { client, isReused } = connection;
    const end = await exchange(client, { ...request, totalMs });
    if (end.isReusable) connections.release(owner, client);
    else connections.close(client);
    const isStale = isReused && end.response === undefined && end.error === "connection_failed";
    if (!isStale) return end;
    connection = connections.acquireNew(owner);
  }
}

/**
 * Sends a webhook delivery to its receiver once, and returns how the attempt ended. The promise
 * never rejects for anything that a receiver does, and never takes longer than `attemptMs`.
 */
export async function sendWebhook(
  options: SendOptions,
  receiver: Receiver,
  delivery: QueuedDelivery,
): Promise<Attempt> {
  const startedAt = new Date();
  const started = performance.now();
  const body = Buffer.from(delivery.payload);
  const message = {
    id: delivery.eventId,
    timestamp: Math.floor(startedAt.getTime() / 1000),
    body,
  };
  const requestHeaders = {
    "content-type": "application/json",
    "user-agent": "Postrider",
    accept: "*/*",
    "accept-encoding": "identity",
    ...toSignedHeaders(receiver.signersAt(started), message),
  };
  const { origin, path, subscriptionId } = receiver;
  const span = openSpan("send webhook", {
    kind: "client",
    attributes: {
      "http.request.method": "POST",
      "server.address": receiver.hostname,
      "server.port": receiver.port,
      "postrider.webhook.id": subscriptionId,
      "postrider.event.id": delivery.eventId,
    },
    parent: delivery.cause["traceparent"],
  });
  const request = { path, headers: requestHeaders, body, totalMs: options.attemptMs };
  const end = await post(options, { subscriptionId, origin }, request);
  const error = errorOf(end);
  const { response } = end;
  if (response !== undefined) span.set({ "http.response.status_code": response.status });
  if (error !== null) span.fail(error);
  span.end();
  return {
    startedAt,
    durationMs: Math.round(performance.now() - started),
    statusCode: response?.status ?? null,
    error,
    requestHeaders,
    responseHeaders:
      response === undefined ? null : toStoredHeaders(response.headers, response.status),
    responseBody: response === undefined ? null : toStoredBody(response.body, response.status),
  };
}

/** Limit for headers and body of a 2xx response, which say little beyond its status. */
const MAX_SUCCESS_BYTES = 2 * 1024;

/** The rest of the value of a header is cut off. */
const MAX_VALUE_LENGTH = 8_192;

/** Returns a received text in a form that Postgres can store, also inside JSON. */
function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Names are in lower case with one text each; of a 2xx response, the first headers with at most 2
 * KiB together.
 */
export function toStoredHeaders(
  headers: ResponseHeaders,
  status: number,
): Readonly<Record<string, string>> {
  const stored: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value = ""] of Object.entries(headers)) {
    const text = typeof value === "string" ? value : value.join(", ");
    const [key, kept] = [
      toStorable(name.toLowerCase()),
      toStorable(text.slice(0, MAX_VALUE_LENGTH)),
    ];
    bytes += Buffer.byteLength(key) + Buffer.byteLength(kept);
    if (isSuccess(status) && bytes > MAX_SUCCESS_BYTES) break;
    stored[key] = kept;
  }
  return stored;
}

/**
 * At most 16 KiB in UTF-8, and 2 KiB for a 2xx response. Bytes that are not UTF-8 become
 * replacement characters, which can be longer than the bytes.
 */
export function toStoredBody(body: Uint8Array, status: number): string {
  const maxBytes = isSuccess(status) ? MAX_SUCCESS_BYTES : MAX_BODY_BYTES;
  const text = toStorable(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body));
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  // The option `stream` leaves out a character whose last bytes were cut off.
  return new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
}
