import { openSpan } from "@postrider/shared/tracing/tracing";
import type { QueuedDelivery } from "#src/webhooks/db/queue.ts";
import type { Attempt, AttemptError } from "#src/webhooks/domain/attempt.ts";
import { toSignedHeaders } from "#src/webhooks/domain/signature.ts";
import { exchange, type ExchangeEnd, type ExchangeRequest } from "./exchange.ts";
import type { ReceiverConnections } from "./receiver-connections.ts";
import type { Receiver } from "./receivers.ts";
import { toStoredBody, toStoredHeaders } from "./stored-response.ts";

export interface SendOptions {
  readonly connections: ReceiverConnections;
  /** Maximum duration of the webhook attempt in milliseconds: DNS, connecting, the request and the whole response. */
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
 * Sends a webhook request. If a connection that was used before breaks without a response, the request is sent once
 * more over a new one: receivers close idle connections at any time, which says nothing about whether they work.
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
 * Sends a webhook delivery to its receiver once, and returns how the attempt ended. The promise never rejects for
 * anything that a receiver does, and never takes longer than `attemptMs`.
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
