import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  WebhookAttemptSchema,
  WebhookDeliverySchema,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import type { AttemptJson, DeliveryRow } from "#src/webhooks/db/delivery-details.ts";

function toAttempt(attempt: AttemptJson): MessageInitShape<typeof WebhookAttemptSchema> {
  return {
    number: attempt.number,
    startedAt: timestampFromDate(new Date(attempt.startedAt)),
    durationMs: attempt.durationMs,
    ...(attempt.statusCode === null ? {} : { statusCode: attempt.statusCode }),
    ...(attempt.error === null ? {} : { error: attempt.error }),
    requestHeaders: { ...attempt.requestHeaders },
    responseHeaders: { ...attempt.responseHeaders },
    ...(attempt.responseBody === null ? {} : { responseBody: attempt.responseBody }),
  };
}

export function toWebhookDelivery(
  row: DeliveryRow,
): MessageInitShape<typeof WebhookDeliverySchema> {
  return {
    id: row.id,
    eventId: row.eventId,
    eventType: row.eventType,
    status: row.status,
    attemptCount: row.attemptCount,
    createdAt: timestampFromDate(row.createdAt),
    ...(row.nextAttemptAt === null ? {} : { nextAttemptAt: timestampFromDate(row.nextAttemptAt) }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.payload === null ? {} : { payload: row.payload }),
    attempts: row.attempts.map(toAttempt),
  };
}
