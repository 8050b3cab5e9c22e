import { startPageLoop } from "@postrider/shared/process/page-loop";
import type { PostsClient } from "#src/clients/posts.ts";
import { markOldDeleting } from "#src/db/old-media.ts";
import type { JobDependencies } from "#src/operations/dependencies.ts";
import { findOldMedia } from "#src/operations/old-media.ts";

const EVERY_MS = 6 * 3_600_000;
const PAUSE_MS = 500;

interface Removal extends Pick<JobDependencies, "sql" | "logger" | "guard"> {
  readonly posts: PostsClient;
  /** Days after the last publication at which media are removed. */
  readonly retentionDays: number;
}

/**
 * Marks the removable media of the page after the given id as deleted, and returns the last id of
 * the page. The job remove-objects deletes their files and renditions, and then the rows. In the
 * first day after a restore nothing is marked, because the record of a use may be lost.
 */
export async function removeOldMediaPage(
  { sql, posts, logger, guard, retentionDays }: Removal,
  after: string,
): Promise<string | undefined> {
  if (retentionDays === 0 || !(await guard.mayForget())) return undefined;
  const { last, removable } = await findOldMedia({ sql, posts }, { days: retentionDays, after });
  const count = await markOldDeleting(sql, removable);
  if (count > 0)
    logger.info(
      { job: "remove-old-media", count },
      "media of ended posts were removed, because the last publication is longer ago than MEDIA_RETENTION_DAYS",
    );
  return last;
}

/** Does nothing with a setting of 0 days. */
export function startRemovingOldMedia(removal: Removal): AsyncDisposable {
  return startPageLoop({
    idleMs: EVERY_MS,
    pauseMs: PAUSE_MS,
    page: (after) => removeOldMediaPage(removal, after),
    onError: (error) =>
      removal.logger.warn(
        { err: error, job: "remove-old-media" },
        "old media could not be removed; the job remove-old-media tries again",
      ),
  });
}
