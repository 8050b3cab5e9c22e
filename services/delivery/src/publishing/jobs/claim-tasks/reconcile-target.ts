import type { TargetContent } from "@postrider/contracts/posts/v1/target_service_pb";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { PostWords, UnknownCall, Verdict } from "@postrider/platforms/publishing/verdict";
import { searchPlatform } from "#src/calls/search.ts";
import { DONE, type WorkEnd } from "#src/calls/worker.ts";
import { CONTENTS_PER_CALL, fetchContents } from "#src/publishing/clients/posts.ts";
import { findOwnedIds } from "#src/publishing/db/attempts.ts";
import { hasPostWithoutId } from "#src/publishing/db/detail-questions.ts";
import { listUncertainTasks } from "#src/publishing/db/doubts.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { hashContent, type TaskEvent } from "#src/publishing/domain/task.ts";
import { toPublication } from "#src/publishing/operations/to-publication.ts";
import type { PublishContext } from "./publish-context.ts";
import { learned, type TaskInputs, toExternalAccount, toMarkRequest } from "./task-inputs.ts";

/** If an account has more uncertain tasks, a similar post is assumed to exist. */
const MAX_TASKS = 500;

/** A hash without and one with the media, each as a search compares texts. */
function toHashes(
  connector: PublishingConnector,
  { text: sent, title, media }: TargetContent,
): { readonly words: string; readonly whole: string } {
  const text = connector.comparableText?.(sent) ?? sent;
  const mediaIds = media.map(({ id }) => id);
  return {
    words: hashContent({ text, title, mediaIds: [] }),
    whole: hashContent({ text, title, mediaIds }),
  };
}

/**
 * Whether the account of the platform has another target, of whichever workspace, whose outcome is
 * not known, with the same or a similar text but other media. Targets with the same text and media
 * are interchangeable: readers see the same post, whichever target is taken for the published one.
 */
async function hasSimilarPost(
  { deps }: PublishContext,
  inputs: TaskInputs,
  isSimilar: (words: PostWords) => boolean = () => false,
): Promise<boolean> {
  const { task, content, connector } = inputs;
  const ours = toHashes(connector, content);
  const tasks = await listUncertainTasks(
    deps.sql,
    task.targetId,
    toExternalAccount(inputs),
    MAX_TASKS,
  );
  if (tasks.length === MAX_TASKS) return true;
  for (let from = 0; from < tasks.length; from += CONTENTS_PER_CALL) {
    const page = tasks.slice(from, from + CONTENTS_PER_CALL);
    const contents = await fetchContents(deps.posts, page);
    const isFound = contents.some((each) => {
      const { words, whole } = toHashes(connector, each);
      return whole !== ours.whole && (words === ours.words || isSimilar(each));
    });
    if (isFound) return true;
  }
  return false;
}

const LOOK_TIMEOUT_MS = 60_000;

/** For platforms that cannot be searched for a call that the data does not describe. */
const CANNOT_TELL: Verdict = {
  kind: "cannot_tell",
  message:
    "the data was restored from a backup or moved, and the platform cannot say whether the target was published before",
};

function toUnknownCall(context: PublishContext, inputs: TaskInputs): UnknownCall {
  const { sql, settings } = context.deps;
  const { task, connector } = inputs;
  const calledAt = task.firstUnknownAt ?? task.calledAt;
  if (calledAt === null || task.callUntil === null)
    throw new Error("the task has an unknown outcome, although none of its publishing calls began");
  return {
    calledAt,
    callUntil: task.callUntil,
    looks: task.looks,
    now: task.claimedAt,
    timeScale: settings.reconcileTimeScale,
    // A publishing call with an unknown outcome has an error code; a call whose post is still being
    // processed has none.
    isPending: task.errorCode === null,
    isOwned: (externalIds) => findOwnedIds(sql, toExternalAccount(inputs), externalIds),
    hasPostWithoutId: async () =>
      connector.givesIdsLater === true && (await hasPostWithoutId(sql, toExternalAccount(inputs))),
    hasSimilarPost: (isSimilar) => hasSimilarPost(context, inputs, isSimilar),
  };
}

export async function reconcileTarget(
  context: PublishContext,
  inputs: TaskInputs,
): Promise<WorkEnd<TaskEvent>> {
  const { task, connector, interrupted } = inputs;
  const { deps } = context;
  const isUnnoted = task.externalAccountId === null || task.isRestored;
  const end = await searchPlatform(deps, {
    table: TASK_TABLE,
    note: isUnnoted ? toMarkRequest(inputs, 0) : undefined,
    look: (signal) => look(context, inputs, signal),
    timeoutMs: LOOK_TIMEOUT_MS,
    interrupted,
    ids: { targetId: task.targetId },
  });
  if (end.kind !== "found") return end;
  const { verdict } = end;
  // The new handles are stored before the search result is recorded. Otherwise the next try would
  // use old handles that the platform does not accept again.
  const isSentAgain = verdict.kind === "absent" || verdict.kind === "repeat";
  if (isSentAgain && verdict.handles !== undefined) {
    const handles = deps.sealing.seal(task, verdict.handles);
    if (!(await context.handleStore.submit({ ...task, handles }))) return DONE;
  }
  const { maxResends } = connector;
  return learned(task, task.attemptNumber, {
    kind: "looked",
    fence: task.fence,
    verdict,
    maxResends,
  });
}

async function look(
  context: PublishContext,
  inputs: TaskInputs,
  signal: AbortSignal,
): Promise<Verdict> {
  const { task, connector } = inputs;
  const call = toUnknownCall(context, inputs);
  const publication = toPublication({ ...inputs, targetId: task.targetId });
  const { handles } = task;
  if (!task.isRestored) return await connector.reconcile(publication, handles, call, signal);
  return (await connector.findMatchingPost?.(publication, handles, call, signal)) ?? CANNOT_TELL;
}
