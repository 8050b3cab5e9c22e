import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { LeastVisible } from "@postrider/platforms/diagnosis/least-visible";
import { isPlatformId, type PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { renewLeases } from "#src/calls/table.ts";
import { findOwnedIds } from "#src/publishing/db/attempts.ts";
import { DELETION_TABLE } from "#src/publishing/db/deletions.ts";
import { findCheckedCall, storeReads, type CheckedCall } from "#src/publishing/db/live-checks.ts";
import type { DeletionResult, DeletionTask } from "#src/publishing/domain/deletion.ts";
import type { LiveCheckStep } from "#src/publishing/domain/live-check.ts";
import type { PublishingDeps } from "#src/publishing/operations/dependencies.ts";
import { toPublication } from "#src/publishing/operations/to-publication.ts";
import {
  readAfterDeletion,
  readBack,
  type CheckedPost,
  type OpenPermalink,
} from "./read-checked-post.ts";

export interface CheckedDeletion {
  readonly task: DeletionTask;
  readonly credential: Credential;
  readonly stopping: AbortSignal;
}

export interface CheckDeps extends Pick<
  PublishingDeps,
  "sql" | "connectors" | "media" | "sealing" | "settings"
> {
  readonly openPermalink: (platform: PlatformId) => OpenPermalink | undefined;
}

/** A call and the renewal of its token fit into it, and each reading of a live check. */
export const LEASES_PER_DELETION = 3;

/** False if another worker has claimed the deletion. */
export async function renewLease(
  { sql, settings }: Pick<PublishingDeps, "sql" | "settings">,
  task: DeletionTask,
): Promise<boolean> {
  const leaseMs = settings.leaseMs * LEASES_PER_DELETION;
  return (await renewLeases(sql, DELETION_TABLE, [task], leaseMs)).length > 0;
}

const INTERRUPTED = {
  name: "interruption",
  status: "failed",
  found:
    "a process stopped while it read the post: the check proves nothing about the reading of posts; repeat it",
  tookMs: 0,
} as const;
export const LOST = {
  kind: "unknown",
  message: "the process stops, or another one deletes the post",
} as const;

/**
 * Reads the post of a live check, deletes it as every other post, and looks again. What was read is
 * stored before the deletion is sent, and before its end is recorded. After a crash it is not read
 * again, because the post may be gone.
 */
export async function deleteCheckedPost(
  deps: CheckDeps,
  { task, credential, stopping }: CheckedDeletion,
  deletePost: () => Promise<DeletionResult>,
): Promise<DeletionResult> {
  const { sql } = deps;
  const id = task.targetId;
  const call = await findCheckedCall(sql, id);
  // The record of the check is deleted after 30 days.
  const post = call && toCheckedPost(deps, { task, credential, stopping }, call);
  if (post === undefined) return await deletePost();
  const keep = async (column: "read_before" | "read_after", steps: readonly LiveCheckStep[]) => {
    const isLeased = !stopping.aborted && (await renewLease(deps, task));
    if (isLeased) await storeReads(sql, id, column, steps);
    return isLeased;
  };
  if (call?.isRead === false) {
    const steps = task.crashCount > 0 ? [INTERRUPTED] : await readBack(post);
    if (!(await keep("read_before", steps))) return LOST;
  }
  const result = await deletePost();
  if (result.kind === "deleted" && !(await keep("read_after", await readAfterDeletion(post))))
    return LOST;
  return result;
}

/** Undefined if the platform cannot be asked: then the deletion says why. */
function toCheckedPost(
  { sql, connectors, media, sealing, settings, openPermalink }: CheckDeps,
  { task, credential, stopping }: CheckedDeletion,
  { content, handles, calledAt, callUntil }: CheckedCall,
): CheckedPost | undefined {
  const { targetId, platform, accountId, permalink } = task;
  const connector = isPlatformId(platform) ? connectors[platform] : undefined;
  if (connector === undefined || credential.accountStatus !== "active") return undefined;
  const externalAccount = { platform, accountId, externalAccountId: credential.externalId };
  const { visibility }: LeastVisible = PLATFORM_FACTS[connector.platform].liveCheck;
  const files = content.media.map((one) => media.describe(one));
  // A restore can have lost when the call began.
  const calledLast = calledAt ?? callUntil ?? new Date();
  return {
    connector,
    publication: toPublication({ targetId, content, media: files, credential }),
    handles: sealing.open({ targetId, generation: 1 }, handles),
    calledAt: calledLast,
    callUntil: callUntil ?? calledLast,
    externalId: task.externalId === "" ? null : task.externalId,
    permalink,
    visibility,
    // The post belongs to the check itself, which a search after a lost answer would not know.
    isOwned: (ids) =>
      findOwnedIds(
        sql,
        externalAccount,
        ids.filter((id) => id !== task.externalId),
      ),
    openPermalink: openPermalink(connector.platform),
    patienceMs: settings.leaseMs,
    stopping,
  };
}
