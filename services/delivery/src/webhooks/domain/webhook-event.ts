import { deriveTimedId } from "@postrider/shared/ids";
import type { EventType } from "#src/webhooks/domain/event-types.ts";

/** State of a target as a webhook event reports it, in the form of the REST API. */
export interface ReportedTarget {
  readonly status: "published" | "failed" | "deleted";
  readonly externalId: string | null;
  readonly permalink: string | null;
  /** Time at which the target was published, in the form of RFC 3339. */
  readonly publishedAt: string | null;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
  } | null;
  readonly attemptCount: number;
}

/** A used-up quota, in the form of `MonthlyQuota` or `DailyQuota` of the REST API. */
export type ExhaustedQuota = Readonly<Record<string, string | number | null>>;

/**
 * What a webhook event is about, and what it says happened. The payload shows a post, account or the like, which the
 * owning service returns later, and which may then be newer than the event. What the event itself says replaces the
 * fields of the newer one, so that the payload always contains what happened.
 */
export type EventSource =
  | { readonly kind: "post"; readonly postId: string }
  /** The post is deleted, so the payload contains only its id. */
  | { readonly kind: "deleted_post"; readonly postId: string }
  | {
      readonly kind: "target";
      readonly postId: string;
      readonly targetId: string;
      readonly reported: Partial<ReportedTarget>;
    }
  | { readonly kind: "account"; readonly accountId: string; readonly platform: string }
  | { readonly kind: "media"; readonly mediaId: string }
  | { readonly kind: "comment_action"; readonly actionId: string }
  | { readonly kind: "automation_run"; readonly runId: string }
  | { readonly kind: "quota"; readonly quota: ExhaustedQuota }
  | {
      readonly kind: "webhook";
      readonly webhookId: string;
      /** Why the webhook subscription was disabled. */
      readonly disabledReason: string | null;
    }
  | { readonly kind: "test"; readonly webhookId: string };

/** An event that webhook subscriptions can receive. */
export interface WebhookEvent {
  /** Id of the webhook event: a UUIDv7 with the time of the event. A repeated message on the bus has the same id. */
  readonly id: string;
  readonly workspaceId: string;
  readonly type: EventType;
  readonly occurredAt: Date;
  /**
   * Version of the post, account or the like that the event is about, when the event happened: a higher number is
   * newer.
   */
  readonly sequence: number;
  readonly source: EventSource;
}

/**
 * Creates a webhook event.
 * @param about Text that identifies what happened, such as the id and the version of the resource. Two events of the
 * same type with the same text are the same event.
 */
export function createWebhookEvent(event: Omit<WebhookEvent, "id">, about: string): WebhookEvent {
  return { ...event, id: deriveTimedId(event.occurredAt, `${event.type} ${about}`) };
}

/** Returns the id of the delivery of a webhook event to a subscription. It sorts by the time of the event. */
export function deliveryIdOf(event: WebhookEvent, subscriptionId: string): string {
  return deriveTimedId(event.occurredAt, `${subscriptionId} ${event.id}`);
}
