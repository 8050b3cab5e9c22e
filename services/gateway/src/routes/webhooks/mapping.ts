import type {
  Webhook,
  WebhookAttempt,
  WebhookDelivery,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { toOptionalInstant } from "@postrider/rest/timestamps";
import { toWebhook } from "@postrider/rest/webhooks/mapping";
import { ServiceError } from "@postrider/shared/errors";

/**
 * Returns the subscription in an answer of the delivery service, with its new signing secret if
 * there is one.
 *
 * @throws `internal` for an answer without a subscription, which is an error of the delivery
 *   service, not of the client.
 */
export function toWebhookWithSecret(answer: {
  readonly webhook?: Webhook | undefined;
  readonly secret?: string | undefined;
}) {
  const { webhook, secret } = answer;
  if (webhook === undefined) throw new ServiceError("internal", "internal");
  return { ...toWebhook(webhook), ...(secret === undefined ? {} : { secret }) };
}

function toAttempt(attempt: WebhookAttempt) {
  const { number, durationMs, requestHeaders, responseHeaders } = attempt;
  return {
    number,
    startedAt: toOptionalInstant(attempt.startedAt),
    durationMs,
    statusCode: attempt.statusCode ?? null,
    error: attempt.error ?? null,
    requestHeaders,
    responseHeaders,
    responseBody: attempt.responseBody ?? null,
  };
}

export function toWebhookDelivery(delivery: WebhookDelivery) {
  const { id, eventId, eventType, status, attemptCount, payload } = delivery;
  return {
    id,
    eventId,
    eventType,
    status,
    attemptCount,
    nextAttemptAt: toOptionalInstant(delivery.nextAttemptAt),
    error: delivery.error ?? null,
    createdAt: toOptionalInstant(delivery.createdAt),
    payload: payload === undefined ? null : (JSON.parse(payload) as object),
    attempts: delivery.attempts.map(toAttempt),
  };
}
