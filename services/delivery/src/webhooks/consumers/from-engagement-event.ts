import type {
  AutomationRunCompleted,
  CommentActionCompleted,
} from "@postrider/contracts/engagement/v1/engagement_events_pb";
import { requiredTime } from "#src/webhooks/consumers/required-time.ts";
import { createWebhookEvent, type WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/** Converts the end of an action on a comment to the webhook event that subscriptions receive. */
export function fromCommentActionCompleted({
  workspaceId,
  actionId,
  version,
  occurredAt,
}: CommentActionCompleted): WebhookEvent {
  return createWebhookEvent(
    {
      workspaceId,
      type: "comment_action.completed",
      occurredAt: requiredTime(occurredAt),
      sequence: Number(version),
      source: { kind: "comment_action", actionId },
    },
    `${actionId} ${version}`,
  );
}

/** Converts the end of a run of an automation rule to the webhook event that subscriptions receive. */
export function fromAutomationRunCompleted({
  workspaceId,
  runId,
  version,
  occurredAt,
}: AutomationRunCompleted): WebhookEvent {
  return createWebhookEvent(
    {
      workspaceId,
      type: "automation_run.completed",
      occurredAt: requiredTime(occurredAt),
      sequence: Number(version),
      source: { kind: "automation_run", runId },
    },
    `${runId} ${version}`,
  );
}
