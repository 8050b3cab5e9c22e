import { deriveId } from "@postrider/shared/ids";
import { addCount } from "@postrider/shared/limits/add-count";
import { appendEvents, causedBy, type OutboxEvent } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { findContext } from "@postrider/shared/telemetry/request-context";
import { TURN_POSTS } from "#src/db/due-posts.ts";
import {
  lockRequestedTargets,
  type RequestedTargetRow,
  withoutWaiting,
} from "#src/db/silent-targets.ts";
import type { TargetKey } from "#src/db/targets.ts";
import type { QuotaExhaustion } from "#src/domain/quota.ts";
import { postPublishRequested } from "#src/events.ts";

/**
 * Targets with a newer generation, or that need not be published any more, are skipped.
 * `exhausted`: the quotas that the request used up.
 */
export async function requestPublishing(
  tx: TransactionSql,
  keys: readonly TargetKey[],
  exhausted: readonly QuotaExhaustion[] = [],
): Promise<void> {
  if (keys.length === 0) return;
  await appendEvents(tx, toRequests(await lockRequestedTargets(tx, keys), exhausted));
}

/** Of targets that the delivery service does not know. */
export async function repeatRequests(
  tx: TransactionSql,
  keys: readonly TargetKey[],
): Promise<void> {
  const lost = await withoutWaiting(tx, await lockRequestedTargets(tx, keys));
  await appendEvents(tx, toRequests(lost, []));
}

/**
 * One per post and due time. A repeated request has the same id, so that the delivery service parks
 * it only once, however often the sweep repeats it. Without an API request, the one that created
 * the post is the cause. As when they were due, those of a workspace beyond its turn go to the
 * topic for a backlog: the sweep would put a long backlog in front of the posts of others.
 */
function toRequests(
  targets: readonly RequestedTargetRow[],
  exhausted: readonly QuotaExhaustion[],
): OutboxEvent[] {
  const requests = Map.groupBy(targets, ({ postId, dueAt, publishBefore }) =>
    [postId, dueAt.getTime(), publishBefore.getTime()].join(" "),
  );
  const turns = new Map<string, number>();
  return [...requests.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const names = group.map(({ targetId, generation }) => `${targetId}/${generation}`);
    const id = deriveId(`publish ${names.toSorted().join(" ")}`);
    addCount(turns, first.workspaceId, 1);
    const isLate = (turns.get(first.workspaceId) ?? 0) > TURN_POSTS;
    const event = { ...postPublishRequested({ ...first, targets: group, exhausted }, isLate), id };
    return [findContext() === undefined ? causedBy(event, first.cause) : event];
  });
}
