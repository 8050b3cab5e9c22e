/** What the hints of `GET /app/api/events` are about. */
export const DASHBOARD_EVENT_TYPES = [
  "post",
  "target",
  "account",
  "media",
  "quota",
  "delivery",
  "comment",
  "run",
  /** Hints may be missing: read again what is shown. Sent first, and after a gap. */
  "resync",
] as const;

export type DashboardEventType = (typeof DASHBOARD_EVENT_TYPES)[number];

/**
 * A hint that something has changed, the `data` of one server-sent event (its `event` is the type).
 * It carries no content: the page reads again what it shows of it. Hints may be repeated or
 * combined, and do not say what changed.
 */
export interface DashboardEvent {
  readonly type: DashboardEventType;
  /**
   * Id of the changed object. Null: the lists and counts of its type have changed; with `resync`
   * everything may have.
   */
  readonly id: string | null;
  /** Of targets and comments, where it is known. */
  readonly postId?: string;
  readonly accountId?: string;
}
