import type { DashboardEvent, DashboardEventType } from "@postrider/rest/dashboard/events";

const IN_OVERVIEW = new Set<DashboardEventType>(["post", "account"]);

/** What a person asked a platform for is read again only when the person asks. */
export const isLive = ([kind]: readonly unknown[]): boolean => kind !== "trial";

/**
 * Whether a query shows something that the hints say has changed. A key begins with a kind, and
 * then "list" or the id of one thing. A hint with an id is about that thing, and one without an id
 * about the lists and counts of its kind (see the gateway's `hint-pace.ts`).
 */
export function isTouched(key: readonly unknown[], events: readonly DashboardEvent[]): boolean {
  if (!isLive(key)) return false;
  return events.some((event) => event.type === "resync" || touches(event, key));
}

function touches({ type, id, postId }: DashboardEvent, [kind, thing]: readonly unknown[]): boolean {
  if (kind === "overview") return id === null && IN_OVERVIEW.has(type);
  // A target is a part of its post.
  const isTarget = type === "target";
  if (kind !== (isTarget ? "post" : type)) return false;
  if (id === null) return thing === undefined || thing === "list" || kind === "quota";
  return thing === (isTarget ? postId : id);
}
