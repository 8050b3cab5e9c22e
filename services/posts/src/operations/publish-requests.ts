import { deriveId } from "@postrider/shared/ids";
import { appendEvents, causedBy, type OutboxEvent } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { findContext } from "@postrider/shared/telemetry/request-context";
import { lockRequestedTargets, type RequestedTargetRow } from "#src/db/silent-targets.ts";
import type { TargetKey } from "#src/db/targets.ts";
import type { QuotaExhaustion } from "#src/domain/quota.ts";
import { postPublishRequested } from "#src/events.ts";

/**
 * Appends events that ask the delivery service to publish targets. Targets that have a newer
 * generation (publish request) or do not have to be published any more are skipped.
 *
 * @param exhausted The quotas that the request used up; each event names them.
 */
export async function requestPublishing(
  tx: TransactionSql,
  keys: readonly TargetKey[],
  exhausted: readonly QuotaExhaustion[] = [],
): Promise<void> {
  if (keys.length === 0) return;
  await appendEvents(tx, toRequests(await lockRequestedTargets(tx, keys), exhausted));
}

/**
 * Builds one publish-request event for each post and due time. A publish request for the same
 * targets has the same id, so that the delivery service, if it cannot process the request, stores
 * it for later only once, however often the sweep repeats it. When no API request is being handled,
 * the event names the API request that created the post as its cause.
 */
function toRequests(
  targets: readonly RequestedTargetRow[],
  exhausted: readonly QuotaExhaustion[],
): OutboxEvent[] {
  const requests = Map.groupBy(targets, ({ postId, dueAt, publishBefore }) =>
    [postId, dueAt.getTime(), publishBefore.getTime()].join(" "),
  );
  return [...requests.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const names = group.map(({ targetId, generation }) => `${targetId}/${generation}`);
    const id = deriveId(`publish ${names.toSorted().join(" ")}`);
    const event = { ...postPublishRequested({ ...first, targets: group, exhausted }), id };
    return [findContext() === undefined ? causedBy(event, first.cause) : event];
  });
}
