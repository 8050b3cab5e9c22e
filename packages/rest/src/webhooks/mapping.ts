import type { Webhook } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { toOptionalInstant } from "#src/timestamps.ts";

/** Converts a webhook subscription to the form of the API. */
export function toWebhook(webhook: Webhook) {
  const { id, url, description, events, status, signing } = webhook;
  return {
    id,
    url,
    description,
    events,
    status,
    disabledReason: webhook.disabledReason ?? null,
    signing,
    publicKey: webhook.publicKey ?? null,
    maxPerSecond: webhook.maxPerSecond ?? null,
    createdAt: toOptionalInstant(webhook.createdAt),
    updatedAt: toOptionalInstant(webhook.updatedAt),
  };
}
