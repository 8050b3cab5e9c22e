import { visibleCallTime } from "@postrider/platforms/http/platform-request";
import type { Handles } from "@postrider/platforms/publishing/handles";
import { type Failure, platformUnavailable } from "@postrider/platforms/publishing/outcome";
import type { CallEvent, CallOutcome } from "#src/calls/call-event.ts";
import { DONE, RELEASE_NOW, sendCall, type WorkEnd } from "#src/calls/worker.ts";
import { withCredential } from "#src/operations/with-credential.ts";
import { moveAccount, recordAvailable } from "#src/publishing/clients/account-facts.ts";
import type { TaskReason } from "#src/publishing/db/task-table.ts";
import { isAnswer } from "#src/publishing/domain/call-signals.ts";
import type { OpenTask, StoredHandles, TaskEvent } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "#src/publishing/operations/dependencies.ts";
import { toPublication } from "#src/publishing/operations/to-publication.ts";
import type { PublishContext } from "./publish-context.ts";
import { downloadParts, type LocalParts, runSteps } from "./run-steps.ts";
import { giveUp, learned, type TaskInputs, toMarkRequest } from "./task-inputs.ts";

/**
 * Tells the accounts service what a refusal of the platform says about the account, so that the
 * next post of the account does not cost the same refusal. If this fails, or the process stops
 * before it, the platform says it again to the next post.
 */
async function reportAccountFacts(
  { accounts: clients, logger }: Pick<PublishingDeps, "accounts" | "logger">,
  { task, credential }: Pick<TaskInputs, "task" | "credential">,
  outcome: CallOutcome | Failure,
): Promise<void> {
  const facts = "facts" in outcome ? outcome.facts : undefined;
  if (facts === undefined) return;
  const { externalId, available } = facts;
  try {
    if (externalId !== undefined)
      await moveAccount(clients, task, credential.externalId, externalId);
    if (available !== undefined) await recordAvailable(clients, task, available);
  } catch (error) {
    logger.warn(
      { err: error, accountId: task.accountId },
      "what the platform reported about an account could not be stored in the accounts service; the next post of the account reports it again",
    );
  }
}

/**
 * Older handles are stored before the mark. After a restore from a backup, the platform is searched
 * from the time of the backup on, for a post that may bear the time at which its handles were made.
 */
const MAX_UNSTORED_MS = 10_000;

/** The same attempt may continue with a newer token. */
interface TokenRefused {
  readonly kind: "token_refused";
  readonly message: string;
  readonly reached: Pick<OpenTask, "handles" | "callNumber">;
}

interface PreparedCall {
  readonly parts: LocalParts;
  readonly handles: Handles;
  readonly unstored: StoredHandles | undefined;
  /** Whether the owner of the account, not the platform, runs the server that gets the call. */
  readonly isForeignHost: boolean;
}

/** Runs the steps, then the call. A refused access token is renewed once. */
export async function publishTarget(
  context: PublishContext,
  inputs: TaskInputs,
): Promise<WorkEnd<TaskEvent>> {
  const { task, attemptNumber, credential } = inputs;
  let open = task;
  const end = await withCredential(context.deps, task, credential, async (usable) => {
    const tried = await tryOnce(context, { ...inputs, credential: usable, task: open });
    if (tried.kind === "token_refused") open = { ...open, ...tried.reached };
    return tried;
  });
  if (end.kind === "unusable") return giveUp(task, attemptNumber, end.code, end.message);
  if (end.kind !== "unavailable") return end;
  const failure = platformUnavailable(end.message);
  return learned(task, attemptNumber, { kind: "step_failed", fence: task.fence, failure });
}

async function tryOnce(
  context: PublishContext,
  inputs: TaskInputs,
): Promise<WorkEnd<TaskEvent> | TokenRefused> {
  const { task, interrupted } = inputs;
  const prepared = await prepare(context, inputs);
  if (prepared.kind !== "ready") return prepared;
  await using local = prepared.parts;
  // Some accounts are on a server that their owner runs. Whether that server answers shows nothing
  // about the platform.
  const isForeignHost = inputs.connector.isForeignHost?.(local.publication) ?? false;
  // A publishing call that sends media does not wait for other calls to the platform: a call that
  // sends media can take minutes, and the platform can later say what became of an upload.
  const isPaced = local.bytes === 0 && !isForeignHost;
  const preparedAt = performance.now();
  using _place = isPaced ? await context.pace.enter(task.platform, interrupted) : undefined;
  if (interrupted.aborted) return RELEASE_NOW;
  const isOld = performance.now() - preparedAt > MAX_UNSTORED_MS;
  if (isOld && !(await isKept(context, task, prepared.unstored))) return DONE;
  return await sendOnce(context, inputs, { ...prepared, isForeignHost });
}

async function sendOnce(
  context: PublishContext,
  inputs: TaskInputs,
  { parts: local, handles, unstored, isForeignHost }: PreparedCall,
): Promise<WorkEnd<TaskEvent> | TokenRefused> {
  const { task, attemptNumber, connector } = inputs;
  const callMs = visibleCallTime(context.deps.settings.visibleCallMs, local.bytes);
  const sent = await sendCall(context, {
    request: { ...toMarkRequest(inputs, callMs), isForeignHost, ...toMade(unstored) },
    callNumber: task.callNumber,
    send: (guard) => connector.publish(local.publication, handles, guard),
    toEvent: (event) => learned(task, attemptNumber, event).event,
    unmarked: (reason) => onUnmarked(task, reason),
    open: () => context.openCalls.begin(callMs),
    ids: { targetId: task.targetId },
    failpoints: "",
  });
  if (sent.kind !== "sent") return sent;
  const { outcome, callNumber, isContinued } = sent;
  if (!isForeignHost) context.pace.learn(task.platform, isAnswer(outcome));
  await reportAccountFacts(context.deps, inputs, outcome);
  return outcome.kind === "token_refused" && isContinued
    ? { ...outcome, reached: { handles, callNumber } }
    : DONE;
}

async function isKept(
  { handleStore }: PublishContext,
  task: OpenTask,
  handles: StoredHandles | undefined,
): Promise<boolean> {
  return handles === undefined || (await handleStore.submit({ ...task, handles }));
}

function toMade(handles: StoredHandles | undefined) {
  return handles === undefined ? {} : { handles };
}

function onUnmarked({ fence }: OpenTask, reason: TaskReason | "missed"): CallEvent {
  switch (reason) {
    case "platform_held":
      return { kind: "platform_held", fence };
    case "missed":
      return { kind: "given_up", fence, code: "missed", message: "" };
    case "superfluous":
      return { kind: "not_wanted", fence };
  }
}

/** All that precedes the mark; it publishes nothing and can be repeated. */
async function prepare(
  context: PublishContext,
  inputs: TaskInputs,
): Promise<
  | ({ readonly kind: "ready" } & Omit<PreparedCall, "isForeignHost">)
  | WorkEnd<TaskEvent>
  | TokenRefused
> {
  const publication = toPublication({ ...inputs, targetId: inputs.task.targetId });
  const steps = await runSteps(context, inputs, publication);
  if (steps.kind === "failed") {
    await reportAccountFacts(context.deps, inputs, steps.failure);
    return onStepFailure(inputs, steps.failure, steps.handles);
  }
  if (steps.kind !== "ready") return steps;
  const { handles, unstored } = steps;
  const download = await downloadParts(context, inputs, publication, handles);
  if (download.kind === "failed") return onStepFailure(inputs, download.failure, handles);
  if (download.kind !== "ready") return download;
  return { ...download, handles, unstored };
}

function onStepFailure(
  { task, attemptNumber }: TaskInputs,
  failure: Failure,
  handles: Handles,
): WorkEnd<TaskEvent> | TokenRefused {
  if (failure.kind === "token_refused")
    return { ...failure, reached: { handles, callNumber: task.callNumber } };
  return learned(task, attemptNumber, { kind: "step_failed", fence: task.fence, failure });
}
