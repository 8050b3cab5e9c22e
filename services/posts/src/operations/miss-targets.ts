import type { TargetUpdated } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { ServiceError } from "@postrider/shared/errors";
import type { TransactionSql } from "@postrider/shared/postgres";
import { lockPostsOfTargets, type SilentTarget } from "#src/db/silent-targets.ts";
import { lockTargetsOf, type TargetKey } from "#src/db/targets.ts";
import { MISSED } from "#src/domain/missed.ts";
import { applyTargetUpdates } from "./apply-target-updates.ts";
import { changeTargets } from "./change-targets.ts";
import type { PostsDeps } from "./dependencies.ts";

type Deps = Pick<PostsDeps, "sql" | "tasks">;

/**
 * Ends targets of one post whose publishing did not begin before their deadline and that the delivery service does not
 * know: it may never have received their publish request, or may be unable to process it. The delivery service closes
 * the targets first, so that a publish request that arrives late does not start them.
 *
 * @param targets Targets of one post.
 */
export async function missTargets(
  { sql, tasks }: Deps,
  targets: readonly SilentTarget[],
): Promise<void> {
  const [first] = targets;
  if (first === undefined) return;
  const closed = targets.map(({ workspaceId, targetId, generation, accountId, platform }) => ({
    ref: { workspaceId, targetId, generation },
    accountId,
    platform,
  }));
  let ended: readonly TargetUpdated[];
  try {
    ({ ended } = await tasks.cancelTargets({ postId: first.postId, targets: closed }));
  } catch (error) {
    // The delivery service does not close a target that an older publish request may have published. No target is then marked as
    // failed, and the next sweep asks the delivery service again.
    if (error instanceof ServiceError && error.reason === "post_publishing") return;
    throw error;
  }
  await sql.begin((tx) => failMissedTargets(tx, targets, ended));
}

/**
 * Applies the outcomes of targets that had ended before the delivery service closed them (promised not to publish them), and
 * marks the other targets as failed.
 */
async function failMissedTargets(
  tx: TransactionSql,
  keys: readonly TargetKey[],
  ended: readonly TargetUpdated[],
): Promise<void> {
  if (ended.length > 0) await applyTargetUpdates(tx, ended);
  const posts = await lockPostsOfTargets(tx, keys);
  const publishing = posts.filter(({ status }) => status === "publishing");
  if (publishing.length === 0) return;
  const generations = new Map(keys.map(({ targetId, generation }) => [targetId, generation]));
  const pairs = (await lockTargetsOf(tx, publishing)).map((before) => {
    const isOpen = before.status === "pending" || before.status === "publishing";
    const isMissed = isOpen && generations.get(before.id) === before.generation;
    const after = isMissed ? { ...before, status: "failed" as const, error: MISSED } : before;
    return { before, after };
  });
  await changeTargets(tx, { posts: publishing, pairs });
}
