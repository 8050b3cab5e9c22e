/** Every type of event that a webhook subscription can receive, in the order of the documentation. */
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

/** Returns the event filters that match a webhook event type: the type itself, its group and `*`. */
export function listFilters(type: EventType): readonly string[] {
  const [group = ""] = type.split(".");
  return [type, `${group}.*`, "*"];
}

/**
 * Whether a webhook subscription may have this event filter: a known event type, `group.*` with a known group, or `*`.
 */
export function isEventFilter(filter: string): boolean {
  return FILTERS.has(filter);
}
