import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { failpoint } from "@postrider/shared/process/failpoints";
import { inWorkContext, inWorkSpan } from "@postrider/shared/tracing/work-span";
import { fetchCredentials } from "#src/clients/accounts.ts";
import { releaseDeletions } from "#src/publishing/db/deletion-claims.ts";
import { isOfOtherTarget } from "#src/publishing/db/post-owners.ts";
import type { DeletionTask } from "#src/publishing/domain/deletion.ts";
import { deleteTarget } from "./delete-target.ts";
import type { DeletionRecorder } from "./deletion-recorder.ts";
import type { PublishingDeps } from "./dependencies.ts";
import { backOffMs } from "./publish-context.ts";

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

/** A deletion task whose worker was lost this many times in a row is given up. */
const MAX_CRASHES = 5;
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
  const credentials = await findCredentials(context, tasks);
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

/** Returns the access tokens in the order of the deletion tasks; empty if the accounts service does not answer. */
async function findCredentials(
  { deps }: DeletionContext,
  tasks: readonly DeletionTask[],
): Promise<readonly Credential[]> {
  try {
    return await inWorkContext(tasks, () => fetchCredentials(deps.accounts, tasks));
  } catch (error) {
    deps.logger.warn(
      { err: error, count: tasks.length },
      "the credentials for deleting posts from platforms could not be fetched from the accounts service; the deletions are tried again in about 1 s",
    );
    return [];
  }
}

async function workDeletion(
  context: DeletionContext,
  task: DeletionTask,
  credential: Credential | undefined,
): Promise<void> {
  const { deps, recorder } = context;
  if (task.crashCount >= MAX_CRASHES) {
    const message = "the process stopped repeatedly";
    const result = { kind: "given_up", code: "internal_error", message } as const;
    return await recorder.record({ task, result });
  }
  if (credential === undefined) return await release(context, task, backOffMs(deps));
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
  await releaseDeletions(deps.sql, [task], Math.round(delayMs));
}
