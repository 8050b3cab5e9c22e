import type { Client } from "@connectrpc/connect";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import { daysBefore, readClock } from "@postrider/shared/postgres/clock";
import { inHalves } from "@postrider/shared/postgres/in-halves";
import { startPageLoop } from "@postrider/shared/process/page-loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  listNewestPublished,
  listOldTargets,
  removeTargets,
} from "#src/publishing/db/old-targets.ts";

/**
 * After that time nothing asks about the calls of a post that no longer exists: its last call may
 * have been made within a day of its due time, no search of a platform looks back so far, and the
 * bus and an operator no longer repeat events of it, which would be too late to be published.
 */
const AFTER_DAYS = 40;
const EVERY_MS = 86_400_000;
const PAGE_TARGETS = 500;
const PAUSE_MS = 500;
/** The posts service keeps posts for at least `AFTER_DAYS`, so it knows those of these targets. */
const NEWEST_TARGETS = 20;

interface Removal {
  readonly sql: Sql;
  readonly posts: Pick<Client<typeof PostService>, "batchGetPostStatuses">;
  readonly logger: Logger;
}

/**
 * Asks the posts service, which decides how long posts are kept, about the posts of the old targets
 * after the given id, and removes what is stored about those that no longer exist. Returns the last
 * target of the page.
 *
 * If it knows none of the newest posts, its data is older than ours, for example restored to a
 * wrong moment. Then nothing is removed.
 */
export async function removeTargetPage(
  { sql, posts, logger }: Removal,
  after: string,
): Promise<string | undefined> {
  // A process whose clock is ahead must not remove what is not old.
  const now = await readClock(sql);
  const endedBefore = daysBefore(now, AFTER_DAYS);
  const page = { createdBefore: endedBefore, after, limit: PAGE_TARGETS };
  const targets = await listOldTargets(sql, page);
  if (targets.length === 0) return undefined;
  const range = { createdAfter: endedBefore, createdBefore: now, limit: NEWEST_TARGETS };
  const newest = await listNewestPublished(sql, range);
  const byPost = new Map([...targets, ...newest].map((target) => [target.postId, target]));
  const refs = [...byPost.values()].map(({ workspaceId, postId: id }) => ({ workspaceId, id }));
  const { statuses } = await posts.batchGetPostStatuses({ refs });
  const existing = new Set(statuses.map(({ ref }) => ref?.id));
  if (newest.length > 0 && !newest.some(({ postId }) => existing.has(postId))) {
    logger.warn(
      { job: "remove-old-targets" },
      "the posts service knows none of the posts that were published last, so nothing about removed posts is removed; check whether its data was restored to the right moment",
    );
    return undefined;
  }
  const lost = targets.filter(({ postId }) => !existing.has(postId));
  const lostIds = lost.map(({ targetId }) => targetId);
  const counts = await inHalves(
    lostIds,
    (ids) => removeTargets(sql, ids, endedBefore),
    (targetId, err) =>
      logger.error(
        { err, targetId, job: "remove-old-targets" },
        "what is stored about a removed post could not be removed; the job goes on with the others, and the next run tries again",
      ),
  );
  const count = counts.reduce((sum, each) => sum + each, 0);
  if (count > 0)
    logger.info(
      { job: "remove-old-targets", count },
      "the tasks, attempts and metrics of targets whose posts no longer exist were removed",
    );
  return targets.at(-1)?.targetId;
}

export function startRemovingOldTargets(removal: Removal): AsyncDisposable {
  return startPageLoop({
    idleMs: EVERY_MS,
    pauseMs: PAUSE_MS,
    page: (after) => removeTargetPage(removal, after),
    onError: (error) =>
      removal.logger.warn(
        { err: error, job: "remove-old-targets" },
        "what is stored about removed posts could not be removed; the job remove-old-targets tries again",
      ),
  });
}
