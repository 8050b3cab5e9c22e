import type { Sql } from "@postrider/shared/postgres";
import { daysAgo } from "@postrider/shared/postgres/clock";
import { inHalves } from "@postrider/shared/postgres/in-halves";
import { startPageLoop } from "@postrider/shared/process/page-loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { type MediaClient, releaseMedia } from "#src/clients/media.ts";
import { listOldPosts, removeOldPosts } from "#src/db/old-posts.ts";

const EVERY_MS = 6 * 3_600_000;
/** A page with seven targets a post locks and deletes some thousand rows in less than 100 ms. */
const PAGE_POSTS = 100;
/** Between two pages, so that a large removal leaves the database to the posts that are due. */
const PAUSE_MS = 500;

interface Removal {
  readonly sql: Sql;
  readonly media: MediaClient;
  readonly logger: Logger;
  /** Days after its last change at which an ended post is removed. */
  readonly retentionDays: number;
}

/**
 * Removes the ended posts of the page after the given id, and returns the last id of the page. A
 * process that stops in between loses nothing: the next run starts from the first post, and the
 * media service asks about each use before it refuses a deletion.
 */
export async function removePage(
  { sql, media, logger, retentionDays }: Removal,
  after: string,
): Promise<string | undefined> {
  const endedBefore = await daysAgo(sql, retentionDays);
  const page = await listOldPosts(sql, { endedBefore, after, limit: PAGE_POSTS });
  const removals = await inHalves(
    page,
    (ids) => removeOldPosts(sql, ids, endedBefore),
    (postId, err) =>
      logger.error(
        { err, postId, job: "remove-old-posts" },
        "an old post could not be removed; the job goes on with the others, and the next run tries again",
      ),
  );
  const removed = removals.flat();
  const former = removed.flatMap(({ workspaceId, postId, mediaIds }) =>
    mediaIds.map((mediaId) => ({ workspaceId, postId, mediaId })),
  );
  await releaseMedia(media, former);
  if (removed.length > 0)
    logger.info(
      { job: "remove-old-posts", count: removed.length },
      "ended posts that are older than POST_RETENTION_DAYS were removed",
    );
  return page.at(-1);
}

export function startRemovingOldPosts(removal: Removal): AsyncDisposable {
  return startPageLoop({
    idleMs: EVERY_MS,
    pauseMs: PAUSE_MS,
    page: (after) => removePage(removal, after),
    onError: (error) =>
      removal.logger.warn(
        { err: error, job: "remove-old-posts" },
        "old posts could not be removed; the job remove-old-posts tries again",
      ),
  });
}
