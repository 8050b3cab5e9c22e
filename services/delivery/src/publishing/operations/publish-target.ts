import { visibleCallTime } from "@postrider/platforms/http/platform-request";
import { createSendGuard } from "@postrider/platforms/http/send-once";
import type { Handles } from "@postrider/platforms/publishing/handles";
import { limitReached, type Failure, type Outcome } from "@postrider/platforms/publishing/outcome";
import { failpoint } from "@postrider/shared/process/failpoints";
import { renewToken, requireReconnect } from "#src/operations/renew-token.ts";
import { isAnswer } from "#src/publishing/domain/platform-brake.ts";
import type { OpenTask } from "#src/publishing/domain/task.ts";
import { toPublication } from "./fetch-task-inputs.ts";
import type { PublishContext } from "./publish-context.ts";
import { reportAccountFacts } from "./report-account-facts.ts";
import { downloadParts, runSteps, type LocalParts } from "./run-steps.ts";
import { DONE, giveUp, learned, RELEASE_NOW, type TaskInputs, type WorkEnd } from "./task-work.ts";
import { markCall } from "./visible-calls.ts";

/**
 * Result of a publishing try whose access token the platform refused. The same attempt may continue with a newer token.
 */
interface TokenRefused {
  readonly kind: "token_refused";
  readonly message: string;
  readonly handles: Handles;
  /** Number of the task's latest publishing call. */
  readonly callNumber: number;
}

/** What a publishing call needs after the preparation steps. */
interface PreparedCall {
  readonly parts: LocalParts;
  readonly handles: Handles;
  /** Whether the owner of the account, not the platform, runs the server that gets the call. */
  readonly isForeignHost: boolean;
}

/**
 * Publishes a claimed task: runs the steps before the publishing call, and then that call. A refused access token is
 * renewed once.
 */
export async function publishTarget(context: PublishContext, inputs: TaskInputs): Promise<WorkEnd> {
  const { task, attemptNumber, credential } = inputs;
  const used = toUsedUpLimit(inputs);
  if (used !== undefined) return used;
  const first = await tryOnce(context, inputs);
  if (first.kind !== "token_refused") return first;
  const renewed = await renewToken(context.deps, task, credential);
  switch (renewed.kind) {
    case "unavailable": {
      const { failure } = renewed;
      return learned(task, attemptNumber, { kind: "step_failed", fence: task.fence, failure });
    }
    case "unusable":
      return giveUp(task, attemptNumber, renewed.code, first.message);
    case "renewed": {
      const open = { ...task, handles: first.handles, callNumber: first.callNumber };
      const again = { ...inputs, credential: renewed.credential, task: open };
      const second = await tryOnce(context, again);
      if (second.kind !== "token_refused") return second;
      await requireReconnect(context.deps, task, renewed.credential);
      return giveUp(task, attemptNumber, "account_reconnect_required", second.message);
    }
  }
}

/**
 * Returns the end of a task whose platform accepts nothing from our app now; no call is made. A post that the platform has
 * begun to receive continues, because such a limit counts new posts.
 */
function toUsedUpLimit({ task, attemptNumber }: TaskInputs): WorkEnd | undefined {
  const { platformLimit, fence, handles } = task;
  if (platformLimit === null || Object.keys(handles).length > 0) return undefined;
  const { code, message, waitMs } = platformLimit;
  const failure = limitReached(code, message, waitMs);
  return learned(task, attemptNumber, { kind: "step_failed", fence, failure });
}

/**
 * Prepares the publishing call, waits until the platform may get one more call, and sends the call. Each part runs only
 * if the previous one succeeded.
 */
async function tryOnce(
  context: PublishContext,
  inputs: TaskInputs,
): Promise<WorkEnd | TokenRefused> {
  const { task, interrupted } = inputs;
  const prepared = await prepare(context, inputs);
  if (prepared.kind !== "ready") return prepared;
  await using local = prepared.parts;
  // Some accounts are on a server that their owner runs. Whether that server answers shows nothing about the platform.
  const isForeignHost = inputs.connector.isForeignHost?.(local.publication) ?? false;
  // A publishing call that sends media does not wait for other calls to the platform: a call that sends media can take
  // minutes, and the platform can later say what became of an upload.
  const isPaced = local.bytes === 0 && !isForeignHost;
  using _place = isPaced ? await context.pace.enter(task.platform, interrupted) : undefined;
  if (interrupted.aborted) return RELEASE_NOW;
  return await sendOnce(context, inputs, { ...prepared, isForeignHost });
}

/** Records that the publishing call begins, sends it and records its outcome. */
async function sendOnce(
  context: PublishContext,
  inputs: TaskInputs,
  { parts: local, handles, isForeignHost }: PreparedCall,
): Promise<WorkEnd | TokenRefused> {
  const { task, attemptNumber, connector } = inputs;
  const { settings, clocks } = context.deps;
  failpoint("delivery.before-mark");
  // The clocks are read before the database records that the call begins. So every delay from here on shortens the time
  // for the call.
  const callMs = visibleCallTime(settings.visibleCallMs, local.bytes);
  const guard = createSendGuard(clocks, callMs);
  const mark = await markCall(context, inputs, { callMs, isForeignHost });
  if (mark.kind !== "marked") return mark;

  using _open = context.openCalls.begin(callMs);
  failpoint("delivery.after-mark");
  // A process that is stopping or was delayed does not send the publishing call and releases the task at once.
  const isStale = context.stopping.aborted || !guard.mayStillSend();
  const outcome: Outcome = isStale
    ? { kind: "not_sent" }
    : await call(context, task, () => connector.publish(local.publication, handles, guard));
  if (outcome.kind !== "not_sent") failpoint("delivery.after-call");
  const { targetId, generation } = task;
  const { callNumber } = mark;
  const { isContinued } = await context.recorder.record({
    targetId,
    generation,
    attemptNumber,
    kind: "called",
    callNumber,
    outcome,
    isForeignHost,
  });
  if (!isForeignHost) context.pace.learn(task.platform, isAnswer(outcome));
  await reportAccountFacts(context.deps, inputs, outcome);
  return outcome.kind === "token_refused" && isContinued
    ? { ...outcome, handles, callNumber }
    : DONE;
}

/**
 * Runs everything that comes before the database records that the publishing call begins. It publishes nothing and can
 * be repeated.
 */
async function prepare(
  context: PublishContext,
  inputs: TaskInputs,
): Promise<
  | { readonly kind: "ready"; readonly handles: Handles; readonly parts: LocalParts }
  | WorkEnd
  | TokenRefused
> {
  const publication = toPublication(inputs);
  const steps = await runSteps(context, inputs, publication);
  if (steps.kind === "failed") {
    await reportAccountFacts(context.deps, inputs, steps.failure);
    return onStepFailure(inputs, steps.failure, steps.handles);
  }
  if (steps.kind !== "ready") return steps;
  const { handles } = steps;
  const download = await downloadParts(context, inputs, publication, handles);
  if (download.kind === "failed") return onStepFailure(inputs, download.failure, handles);
  if (download.kind !== "ready") return download;
  return { ...download, handles };
}

function onStepFailure(
  { task, attemptNumber }: TaskInputs,
  failure: Failure,
  handles: Handles,
): WorkEnd | TokenRefused {
  if (failure.kind === "token_refused") return { ...failure, handles, callNumber: task.callNumber };
  return learned(task, attemptNumber, { kind: "step_failed", fence: task.fence, failure });
}

/**
 * Sends the connector's publishing call. An error that the connector throws does not tell what the platform did, so the
 * outcome is unknown. The connector enforces the deadline. An answer after the deadline counts too, so this function keeps
 * waiting for it. If no answer comes, the job that claims tasks finds the lost call after `call_until`.
 */
async function call(
  { deps }: PublishContext,
  task: OpenTask,
  publish: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await publish();
  } catch (error) {
    deps.logger.error(
      { err: error, targetId: task.targetId },
      "the publishing call threw an error; its outcome is unknown, so the platform is searched for the post",
    );
    return { kind: "unknown", message: "internal error" };
  }
}
