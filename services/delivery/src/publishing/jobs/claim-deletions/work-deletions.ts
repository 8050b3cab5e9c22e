import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import type { DeletionOutcome } from "@postrider/platforms/publishing/outcome";
import { failpoint } from "@postrider/shared/process/failpoints";
import { inWorkSpan } from "@postrider/shared/tracing/work-span";
import { releaseCalls } from "#src/calls/table.ts";
import { backOffMs, CRASHED, findCredentials, isCrashLooping } from "#src/calls/worker.ts";
import { withCredential } from "#src/operations/with-credential.ts";
import { isOfOtherTarget } from "#src/publishing/db/deletion-claims.ts";
import { DELETION_TABLE } from "#src/publishing/db/deletions.ts";
import type { DeletionResult, DeletionTask } from "#src/publishing/domain/deletion.ts";
import { isLiveCheck } from "#src/publishing/domain/live-check.ts";
import type { PublishingDeps } from "../../operations/dependencies.ts";
import {
  type CheckDeps,
  type CheckedDeletion,
  deleteCheckedPost,
  LOST,
  renewLease,
} from "./check-deletion.ts";
import type { DeletionRecorder } from "./deletion-recorder.ts";

export interface DeletionContext {
  readonly deps: CheckDeps & Pick<PublishingDeps, "logger" | "accounts" | "random">;
  readonly recorder: DeletionRecorder;
  readonly stopping: AbortSignal;
}

const OF_OTHER_TARGET = {
  kind: "given_up",
  code: "internal_error",
  message: "another target published the post of this target earlier; the post was not deleted",
} as const;

/**
 * Works on claimed deletion tasks concurrently. It never throws: a deletion task that cannot be
 * released is claimed again when its lease ends.
 *
 * @param onEnd Called once per deletion task, when the work on it ends.
 */
export async function workDeletions(
  context: DeletionContext,
  tasks: readonly DeletionTask[],
  onEnd: () => void,
): Promise<void> {
  const { logger } = context.deps;
  const credentials = findCredentials(context.deps, tasks);
  await Promise.all(
    tasks.map(async (task, index) => {
      try {
        await workDeletion(context, task, await credentials[index]);
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
  const result = (await isOfOtherTarget(deps.sql, task, credential.externalId))
    ? OF_OTHER_TARGET
    : await deleteOrCheck(deps, { task, credential, stopping });
  failpoint("delivery.after-deletion");
  // The process itself aborted the platform call, so the error is not an answer of the platform.
  if (stopping.aborted && result.kind === "unknown") return await release(context, task, 0);
  await recorder.record({ task, result });
}

async function deleteOrCheck(deps: CheckDeps & Deps, inputs: CheckedDeletion) {
  const deletePost = () => deleteTarget(deps, inputs);
  return isLiveCheck(inputs.task)
    ? await deleteCheckedPost(deps, inputs, deletePost)
    : await deletePost();
}

async function release(
  { deps }: DeletionContext,
  task: DeletionTask,
  delayMs: number,
): Promise<void> {
  await releaseCalls(deps.sql, DELETION_TABLE, [task], delayMs);
}

type Deps = Pick<PublishingDeps, "sql" | "accounts" | "connectors" | "logger" | "settings">;

type GivenUp = Extract<DeletionResult, { kind: "given_up" }>;

function giveUp(code: GivenUp["code"], message = ""): GivenUp {
  return { kind: "given_up", code, message };
}

async function deleteTarget(deps: Deps, inputs: CheckedDeletion): Promise<DeletionResult> {
  const { task, credential } = inputs;
  if (task.externalId === "")
    return giveUp("account_action_needed", "the platform's id of the post is not known");
  if (!task.isPublishedByUs)
    return giveUp("internal_error", "the post was not published by Postrider for this target");
  const end = await withCredential(deps, task, credential, (usable) => call(deps, inputs, usable));
  if (end.kind === "unusable") return giveUp(end.code, end.message);
  return end.kind === "unavailable" ? { kind: "unknown", message: end.message } : end;
}

/**
 * Sends only while the lease is held, and for the whole call: credentials or a new token may have
 * come late, and another worker may have begun meanwhile. If the connector throws an error, the
 * outcome is unknown.
 */
async function call(
  { sql, connectors, settings, logger }: Deps,
  { task, stopping }: CheckedDeletion,
  { externalId, username, accessToken, attributes }: Credential,
): Promise<DeletionOutcome | GivenUp> {
  const connector = isPlatformId(task.platform) ? connectors[task.platform] : undefined;
  // A process with a newer version may have the connector. The wait for it counts as a retry, so
  // that the deletion fails after the last one.
  if (connector === undefined)
    return { kind: "unknown", message: "this version does not support the platform" };
  if (!connector.canDelete)
    return giveUp("app_configuration", "posts on this platform cannot be deleted");
  if (!(await renewLease({ sql, settings }, task))) return LOST;
  const deadline = AbortSignal.timeout(settings.leaseMs);
  try {
    return await connector.delete(
      { externalId, username, accessToken, attributes },
      task.externalId,
      AbortSignal.any([stopping, deadline]),
      task.permalink,
    );
  } catch (error) {
    logger.error(
      { err: error, targetId: task.targetId },
      "the call that deletes a post ended with an unexpected error; the deletion is tried again",
    );
    return { kind: "unknown", message: "internal error" };
  }
}
