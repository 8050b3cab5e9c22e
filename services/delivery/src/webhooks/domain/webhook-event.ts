import { deriveTimedId } from "@postrider/shared/ids";

/** Every type of event, in the order of the documentation. */
export const EVENT_TYPES = [
  "post.scheduled",
  "post.publishing",
  "post.published",
  "post.partial",
  "post.failed",
  "post.cancelled",
  "post.deleted",
  "target.published",
  "target.updated",
  "target.failed",
  "target.deleted",
  "account.connected",
  "account.disconnected",
  "account.reconnect_required",
  "media.ready",
  "comment_action.completed",
  "automation_run.completed",
  "quota.exhausted",
  "webhook.disabled",
  "webhook.test",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

const FILTERS: ReadonlySet<string> = new Set(EVENT_TYPES.flatMap(listFilters));

/** Returns the filters that match a type: the type itself, its group and `*`. */
export function listFilters(type: EventType): readonly string[] {
  const [group = ""] = type.split(".");
  return [type, `${group}.*`, "*"];
}

export function isEventFilter(filter: string): boolean {
  return FILTERS.has(filter);
}

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

export type ExhaustedQuota = Readonly<Record<string, string | number | null>>;

/**
 * What a webhook event is about, and what it says happened. The payload shows a post, account or
 * the like, which the owning service returns later, and which may then be newer than the event.
 * What the event itself says replaces the fields of the newer one, so that the payload always
 * contains what happened.
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
      readonly disabledReason: string | null;
    }
  | { readonly kind: "test"; readonly webhookId: string };

export interface WebhookEvent {
  /** A UUIDv7 with the time of the event. A repeated message on the bus has the same id. */
  readonly id: string;
  readonly workspaceId: string;
  readonly type: EventType;
  readonly occurredAt: Date;
  /** Version of the object when the event happened: a higher number is newer. */
  readonly sequence: number;
  readonly source: EventSource;
}

/**
 * Creates a webhook event.
 *
 * @param about Text that identifies what happened, such as the id and the version of the resource.
 *   Two events of the same type with the same text are the same event.
 */
export function createWebhookEvent(event: Omit<WebhookEvent, "id">, about: string): WebhookEvent {
  return { ...event, id: deriveTimedId(event.occurredAt, `${event.type} ${about}`) };
}

/** Returns an id that sorts by the time of the event. */
export function deliveryIdOf(event: WebhookEvent, subscriptionId: string): string {
  return deriveTimedId(event.occurredAt, `${subscriptionId} ${event.id}`);
}
