import type { QuotaExhaustion } from "@postrider/contracts/posts/v1/posts_events_pb";
import { toDailyQuota, toMonthlyQuota } from "@postrider/rest/quota/mapping";
import { requiredTime } from "#src/webhooks/consumers/required-time.ts";
import {
  createWebhookEvent,
  type ExhaustedQuota,
  type WebhookEvent,
} from "#src/webhooks/domain/webhook-event.ts";

/** Converts used-up quotas to the webhook events that subscriptions receive, one per counter and period. */
export function fromExhaustions(
  workspaceId: string,
  exhausted: readonly QuotaExhaustion[],
): readonly WebhookEvent[] {
  return exhausted.map(({ subject, period, exhaustedAt, quota }) => {
    const object = toQuota(quota);
    return createWebhookEvent(
      {
        workspaceId,
        type: "quota.exhausted",
        occurredAt: requiredTime(exhaustedAt),
        sequence: object.used + object.reserved,
        source: { kind: "quota", quota: object },
      },
      `${workspaceId} ${subject} ${period}`,
    );
  });
}

function toQuota(quota: QuotaExhaustion["quota"]): ExhaustedQuota & {
  readonly used: number;
  readonly reserved: number;
} {
  if (quota.case === "monthly") return toMonthlyQuota(quota.value);
  if (quota.case === "daily") return toDailyQuota(quota.value);
  throw new Error("the event does not say which quota is used up");
}
