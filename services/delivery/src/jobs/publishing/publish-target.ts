import { setTimeout } from "node:timers/promises";
import { failpoint } from "@postrider/shared/failpoints";
import { withUploadTime } from "#src/connectors/upload-time.ts";
import { storeHandles } from "#src/db/handles.ts";
import type {
  Failure,
  Handles,
  Outcome,
  PrepareStep,
  Publication,
  SendGuard,
  StepResult,
  StepWait,
} from "#src/domain/connector.ts";
import { hashContent } from "#src/domain/content-hash.ts";
import { createSendGuard } from "#src/domain/send-guard.ts";
import type { MarkResult } from "#src/jobs/publishing/call-marker.ts";
import { renewRefused } from "#src/jobs/publishing/renew-refused.ts";
import {
  giveUp,
  release,
  report,
  toPublication,
  type Work,
  type Workshop,
} from "#src/jobs/publishing/work.ts";

/** The end of a try: everything is written, or the platform refused the token and the same attempt goes on with another. */
type Try =
  | { readonly kind: "done" }
  | { readonly kind: "token_refused"; readonly message: string; readonly handles: Handles };

const DONE: Try = { kind: "done" };
/** Another call of the account has to end first; it takes about as long as this. */
const BUSY_MS = 250;
/** A step that waits longer than this does not keep a worker. */
const MAX_WAIT_IN_WORK_MS = 1000;

/** Works one claimed task up to and including its visible call. */
export async function publishTarget(shop: Workshop, work: Work): Promise<void> {
  const first = await tryOnce(shop, work);
  if (first.kind === "done") return;
  const credential = await renewRefused(shop, work, first.message);
  if (credential === undefined) return;
  const again = { ...work, credential, task: { ...work.task, handles: first.handles } };
  const second = await tryOnce(shop, again);
  if (second.kind === "token_refused")
    await renewRefused(shop, again, second.message, { isLast: true });
}

async function tryOnce(shop: Workshop, work: Work): Promise<Try> {
  const publication = toPublication(shop, work);
  const prepared = await prepare(shop, work, publication);
  if (prepared === undefined) return DONE;
  const { handles, failure } = prepared;
  if (failure !== undefined) return await onStepFailure(shop, work, failure, handles);
  if (work.interrupted.aborted) {
    await release(shop, [work.task], 0);
    return DONE;
  }
  return await call(shop, work, publication, handles);
}

interface Prepared {
  readonly handles: Handles;
  readonly failure?: Failure;
}

const FAILURES: ReadonlySet<string> = new Set(["refused", "retryable", "token_refused"]);

function isFailure(made: StepResult): made is Failure {
  return FAILURES.has(made.kind ?? "");
}

function isWait(made: StepResult): made is StepWait {
  return made.kind === "wait";
}

/** Runs the steps that are not done yet and stores what each makes before the next; undefined when the task was let go. */
async function prepare(
  shop: Workshop,
  work: Work,
  publication: Publication,
): Promise<Prepared | undefined> {
  let handles: Handles = work.task.handles ?? {};
  for (const step of work.connector.steps(publication)) {
    if (step.isDone(handles)) continue;
    const made = await finishStep(shop, work, { step, publication, handles });
    if (made === undefined) return undefined;
    handles = made.handles;
    if (made.failure !== undefined) return made;
  }
  return { handles };
}

/** Runs one step to its end. A short wait is waited for here; for a long one the task is given back until then. */
async function finishStep(
  shop: Workshop,
  { task, interrupted }: Work,
  {
    step,
    publication,
    ...before
  }: {
    readonly step: PrepareStep;
    readonly publication: Publication;
    readonly handles: Handles;
  },
): Promise<Prepared | undefined> {
  let { handles } = before;
  for (;;) {
    const made = await runStep(shop, () => step.run(publication, handles, interrupted));
    if (interrupted.aborted) {
      await release(shop, [task], 0);
      return undefined;
    }
    if (isFailure(made)) return { handles, failure: made };
    const isWaiting = isWait(made);
    const added = isWaiting ? made.handles : made;
    if (added !== undefined) {
      handles = { ...handles, ...added };
      if (!(await storeHandles(shop.deps.sql, task, handles))) return undefined;
    }
    if (!isWaiting) return { handles };
    if (made.afterMs > MAX_WAIT_IN_WORK_MS) {
      await release(shop, [task], made.afterMs);
      return undefined;
    }
    await setTimeout(made.afterMs, undefined, { signal: interrupted }).catch(() => undefined);
  }
}

/** A step that throws is a fault of ours or of a peer; it is tried again like any other failure. */
async function runStep({ deps }: Workshop, run: () => Promise<StepResult>): Promise<StepResult> {
  try {
    return await run();
  } catch (error) {
    deps.logger.error({ err: error }, "a step threw");
    return { kind: "retryable", code: "internal_error", message: "" };
  }
}

async function onStepFailure(
  shop: Workshop,
  work: Work,
  failure: Failure,
  handles: Handles,
): Promise<Try> {
  if (failure.kind === "token_refused") return { ...failure, handles };
  const { task, attemptNumber } = work;
  await report(shop, task, { kind: "step_failed", fence: task.fence, failure }, attemptNumber);
  return DONE;
}

async function call(
  shop: Workshop,
  work: Work,
  publication: Publication,
  handles: Handles,
): Promise<Try> {
  const { task, attemptNumber, content } = work;
  const { settings, clocks } = shop.deps;
  failpoint("delivery.before-mark");
  // The clocks are read first: whatever delays the mark or what comes after it counts against the call.
  const parts = work.connector.visibleParts?.(publication, handles) ?? [];
  const carried = parts.reduce((sum, { length }) => sum + length, 0);
  const callMs = withUploadTime(settings.visibleCallMs, carried);
  const guard = createSendGuard(clocks, callMs);
  const mark = await shop.marker.mark({
    targetId: task.targetId,
    generation: task.generation,
    fence: task.fence,
    contentHash: hashContent({
      text: content.text,
      title: content.title,
      mediaIds: content.media.map(({ id }) => id),
    }),
    callMs,
  });
  if (typeof mark === "string") {
    await onUnmarked(shop, work, mark);
    return DONE;
  }
  failpoint("delivery.after-mark");
  // A process that stops, or that was held up, begins nothing visible; the task is free again at once.
  const isStale = shop.stopping.aborted || !guard.mayStillSend();
  const outcome = isStale
    ? ({ kind: "not_sent" } as const)
    : await send(shop, work, publication, handles, guard);
  failpoint("delivery.after-call");
  const { callNumber } = mark;
  const after = await report(shop, task, { kind: "called", callNumber, outcome }, attemptNumber);
  const goesOn = after?.status === "working" && after.fence === task.fence;
  return outcome.kind === "token_refused" && goesOn ? { ...outcome, handles } : DONE;
}

async function onUnmarked(
  shop: Workshop,
  work: Work,
  reason: Extract<MarkResult, string>,
): Promise<void> {
  const { task, attemptNumber } = work;
  switch (reason) {
    case "lost":
      return;
    case "busy":
      return await release(shop, [task], BUSY_MS * (1 + shop.deps.random()));
    case "missed":
      return await giveUp(shop, task, "missed", "", attemptNumber);
    case "superfluous":
      await report(shop, task, { kind: "not_wanted", fence: task.fence }, attemptNumber);
  }
}

/**
 * The connector's call, which never throws: what cannot be said about it is unknown. The connector keeps the deadline;
 * an answer that comes after it counts as well, so nothing here stops listening. When it does not come, the end of
 * `calling` is noticed by whoever looks for lost calls.
 */
async function send(
  shop: Workshop,
  work: Work,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  try {
    return await work.connector.publish(publication, handles, guard);
  } catch (error) {
    shop.deps.logger.error({ err: error, targetId: work.task.targetId }, "the call threw");
    return { kind: "unknown", message: "internal error" };
  }
}
