import type { MediaReady } from "@postrider/contracts/media/v1/media_events_pb";
import { requiredTime } from "#src/webhooks/consumers/required-time.ts";
import { createWebhookEvent, type WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/** Converts the bus event that media are ready to the webhook event that subscriptions receive. */
export function fromMediaReady({
  workspaceId,
  mediaId,
  version,
  occurredAt,
}: MediaReady): WebhookEvent {
  return createWebhookEvent(
    {
      workspaceId,
      type: "media.ready",
      occurredAt: requiredTime(occurredAt),
      sequence: Number(version),
      source: { kind: "media", mediaId },
    },
    `${mediaId} ${version}`,
  );
}
