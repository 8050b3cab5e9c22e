import { setTimeout } from "node:timers/promises";
import type { Handles } from "@postrider/platforms/publishing/handles";
import { MediaUnreadable } from "@postrider/platforms/publishing/media-bytes";
import type { Failure } from "@postrider/platforms/publishing/outcome";
import type { MediaPart, Publication } from "@postrider/platforms/publishing/publication";
import type { PrepareStep, StepResult, StepWait } from "@postrider/platforms/publishing/steps";
import { failpoint } from "@postrider/shared/process/failpoints";
import { RELEASE_NOW, type WorkEnd } from "#src/calls/worker.ts";
import type { StoredHandles, TaskEvent } from "#src/publishing/domain/task.ts";
import { mediaBackOffMs, type PublishContext } from "./publish-context.ts";
import type { TaskInputs } from "./task-inputs.ts";

/**
 * The handles (upload ids and similar values) that the platform has returned to the steps of a
 * publish task, and whether all steps are finished or one has failed.
 */
type StepsEnd =
  /** `unstored`: the handles that the mark has to store. */
  | { readonly kind: "ready"; readonly handles: Handles; readonly unstored?: StoredHandles }
  | { readonly kind: "failed"; readonly handles: Handles; readonly failure: Failure };

/**
 * The content of a post whose publishing call reads its media from the local disk. Disposing of it
 * removes the media from the disk.
 */
export interface LocalParts extends AsyncDisposable {
  readonly publication: Publication;
  readonly bytes: number;
}

/**
 * Maximum wait in milliseconds between two calls of a step during which the worker keeps the
 * publish task; a longer wait releases the task.
 */
const MAX_WAIT_IN_WORK_MS = 1000;
/**
 * Maximum length of all handles of a task. The largest are the records of Bluesky posts with four
 * long alternative texts. Tasks of all workspaces share the statements that store and read handles,
 * and the server that returns them may be the account owner's.
 */
const MAX_HANDLES_LENGTH = 128 * 1024;
const TOO_LONG: Failure = {
  kind: "refused",
  code: "content_rejected",
  message: "the platform answered with more than Postrider stores for a post",
};
const FAILURES: ReadonlySet<string> = new Set(["refused", "retryable", "token_refused"]);

function isFailure(made: StepResult): made is Failure {
  return "kind" in made && FAILURES.has(made.kind);
}

function isWait(made: StepResult): made is StepWait {
  return made.kind === "wait";
}

/**
 * Runs the steps of a publish task that are not done yet. It stores what each step returns before
 * the next one begins.
 */
export async function runSteps(
  context: PublishContext,
  inputs: TaskInputs,
  publication: Publication,
): Promise<StepsEnd | WorkEnd<TaskEvent>> {
  let { handles } = inputs.task;
  let isStored = true;
  for (const step of inputs.connector.steps(publication)) {
    if (step.isDone(handles)) continue;
    const end = await finishStep(context, inputs, { step, publication, before: handles });
    if (end.kind !== "ready") return end;
    isStored = end.handles === handles ? isStored : step.isOwn !== true;
    ({ handles } = end);
  }
  if (isStored) return { kind: "ready", handles };
  return { kind: "ready", handles, unstored: context.deps.sealing.seal(inputs.task, handles) };
}

interface Step {
  readonly step: PrepareStep;
  readonly publication: Publication;
  readonly before: Handles;
}

/**
 * Runs one step of a publish task until it is finished. The worker keeps the task during a short
 * wait and releases it for a long one.
 */
async function finishStep(
  context: PublishContext,
  inputs: TaskInputs,
  { step, publication, before }: Step,
): Promise<StepsEnd | WorkEnd<TaskEvent>> {
  const { interrupted } = inputs;
  let handles = before;
  for (;;) {
    const tried = await tryToRun(context, inputs, () =>
      step.run(publication, handles, interrupted),
    );
    if (tried.kind === "failed") return { ...tried, handles };
    if (tried.kind !== "made") return tried;
    const { made } = tried;
    const kept = await keep(context, inputs, step, { before: handles, made });
    if (kept.kind === "done") return kept;
    if (kept.kind === "too_long") return { kind: "failed", handles, failure: TOO_LONG };
    ({ handles } = kept);
    // What the platform returned to the step is stored before the task is released, because the
    // next worker continues from there.
    if (interrupted.aborted) return RELEASE_NOW;
    if (isFailure(made)) return { kind: "failed", handles, failure: made };
    if (!isWait(made)) return { kind: "ready", handles };
    if (made.afterMs > MAX_WAIT_IN_WORK_MS) return { kind: "release", delayMs: made.afterMs };
    await setTimeout(made.afterMs, undefined, { signal: interrupted }).catch(() => undefined);
  }
}

/**
 * Stores what the platform returned to a step, together with what it returned to earlier steps. The
 * result is `done` if another worker has claimed the task, and `too_long` if it is not stored.
 */
async function keep(
  { deps, handleStore }: PublishContext,
  { task }: TaskInputs,
  { isOwn }: PrepareStep,
  { before, made }: { readonly before: Handles; readonly made: StepResult },
): Promise<
  | { readonly kind: "kept"; readonly handles: Handles }
  | { readonly kind: "done" }
  | { readonly kind: "too_long" }
> {
  if (isFailure(made)) return { kind: "kept", handles: before };
  const added = isWait(made) ? made.handles : made;
  if (added === undefined) return { kind: "kept", handles: before };
  const handles = { ...before, ...added };
  if (Object.values(handles).join("").length > MAX_HANDLES_LENGTH) return { kind: "too_long" };
  if (isOwn) return { kind: "kept", handles };
  const sealed = { ...task, handles: deps.sealing.seal(task, handles) };
  if (!(await handleStore.submit(sealed))) return { kind: "done" };
  failpoint("delivery.after-handles");
  return { kind: "kept", handles };
}

/**
 * An error is a fault of our code or of another service, tried again like any failure. Without an
 * answer of the media service, the try counts as no attempt: the post did not fail.
 */
async function tryToRun<T>(
  { deps }: PublishContext,
  { task, interrupted }: TaskInputs,
  run: () => Promise<T>,
): Promise<
  | { readonly kind: "made"; readonly made: T }
  | { readonly kind: "failed"; readonly failure: Failure }
  | WorkEnd<TaskEvent>
> {
  try {
    return { kind: "made", made: await run() };
  } catch (error) {
    if (interrupted.aborted) return RELEASE_NOW;
    deps.logger.warn(
      { err: error, targetId: task.targetId },
      "a step before the publishing call ended with an unexpected error; the step is tried again, unless the media of the post no longer exist",
    );
    if (!(error instanceof MediaUnreadable))
      return {
        kind: "failed",
        failure: { kind: "retryable", code: "internal_error", message: "" },
      };
    const { reason, message } = error;
    if (reason === "unavailable") return { kind: "release", delayMs: mediaBackOffMs(deps) };
    const kind = reason === "gone" ? "refused" : "retryable";
    return { kind: "failed", failure: { kind, code: "media_fetch_failed", message } };
  }
}

/** Before the call, so that a slow media service cannot interrupt it. */
export async function downloadParts(
  context: PublishContext,
  inputs: TaskInputs,
  publication: Publication,
  handles: Handles,
): Promise<
  | { readonly kind: "ready"; readonly parts: LocalParts }
  | { readonly kind: "failed"; readonly failure: Failure }
  | WorkEnd<TaskEvent>
> {
  const parts = inputs.connector.visibleParts?.(publication, handles) ?? [];
  if (parts.length === 0)
    return {
      kind: "ready",
      parts: { publication, bytes: 0, [Symbol.asyncDispose]: () => Promise.resolve() },
    };
  const tried = await tryToRun(context, inputs, () =>
    download(context, inputs, publication, parts),
  );
  return tried.kind === "made" ? { kind: "ready", parts: tried.made } : tried;
}

async function download(
  { deps }: PublishContext,
  { task: { workspaceId }, interrupted: signal }: TaskInputs,
  publication: Publication,
  parts: readonly MediaPart[],
): Promise<LocalParts> {
  const spooled = await deps.spool.fetch(publication.media, parts, { workspaceId, signal });
  return {
    publication: { ...publication, media: spooled.media },
    bytes: parts.reduce((sum, { length }) => sum + length, 0),
    [Symbol.asyncDispose]: () => spooled[Symbol.asyncDispose](),
  };
}
