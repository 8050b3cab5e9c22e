import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { failpoint } from "@postrider/shared/process/failpoints";
import { inWorkSpan } from "@postrider/shared/tracing/work-span";
import { releaseCalls } from "#src/calls/table.ts";
import { backOffMs, CRASHED, findCredentials, isCrashLooping } from "#src/calls/worker.ts";
import { DELETION_TABLE } from "#src/publishing/db/deletions.ts";
import { isOfOtherTarget } from "#src/publishing/db/post-owners.ts";
import type { DeletionTask } from "#src/publishing/domain/deletion.ts";
import { deleteTarget } from "./delete-target.ts";
import type { DeletionRecorder } from "./deletion-recorder.ts";
import type { PublishingDeps } from "./dependencies.ts";

/** Dependencies that all deletions of the process share. */
export interface DeletionContext {
  readonly deps: Pick<
    PublishingDeps,
    "sql" | "logger" | "connectors" | "accounts" | "settings" | "random"
  >;
  readonly recorder: DeletionRecorder;
  /** Signal that is aborted when the process stops. */
  readonly stopping: AbortSignal;
}

const OF_OTHER_TARGET = {
  kind: "given_up",
  code: "internal_error",
  message: "another target published the post of this target earlier; the post was not deleted",
} as const;

/**
 * Works on claimed deletion tasks concurrently. It never throws: a deletion task that cannot be released is claimed again when
 * its lease ends.
 *
 * @param onEnd Called once per deletion task, when the work on it ends.
 */
export async function workDeletions(
  context: DeletionContext,
  tasks: readonly DeletionTask[],
  onEnd: () => void,
): Promise<void> {
  const { logger } = context.deps;
  const credentials = await findCredentials(context.deps, tasks);
  await Promise.all(
    tasks.map(async (task, index) => {
      try {
        await workDeletion(context, task, credentials[index]);
      } catch (error) {
        logger.warn(
          { err: error, targetId: task.targetId },
          "the deletion of a post from its platform ended with an unexpected error; the deletion is tried again when the lease of its task ends",
        );
      }
      onEnd();
    }),
  );
}

async function workDeletion(
  context: DeletionContext,
  task: DeletionTask,
  credential: Credential | undefined,
): Promise<void> {
  const { deps, recorder } = context;
  if (isCrashLooping(task)) return await recorder.record({ task, result: CRASHED });
  if (credential === undefined) return await release(context, task, backOffMs(deps.random));
  const attributes = { "postrider.target.id": task.targetId };
  await inWorkSpan("delete target", task, attributes, () => deleteOne(context, task, credential));
}

async function deleteOne(
  context: DeletionContext,
  task: DeletionTask,
  credential: Credential,
): Promise<void> {
  const { deps, recorder, stopping } = context;
  if (stopping.aborted) return await release(context, task, 0);
  const result = (await isOfOtherTarget(deps.sql, task))
    ? OF_OTHER_TARGET
    : await deleteTarget(deps, { task, credential, stopping });
  failpoint("delivery.after-deletion");
  // The process itself aborted the platform call, so the error is not an answer of the platform.
  if (stopping.aborted && result.kind === "unknown") return await release(context, task, 0);
  await recorder.record({ task, result });
}

async function release(
  { deps }: DeletionContext,
  task: DeletionTask,
  delayMs: number,
): Promise<void> {
  await releaseCalls(deps.sql, DELETION_TABLE, [task], delayMs);
}
