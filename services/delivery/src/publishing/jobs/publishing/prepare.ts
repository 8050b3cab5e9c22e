import { setTimeout } from "node:timers/promises";
import type { Handles } from "@postrider/platforms/publishing/handles";
import { MediaUnreadable } from "@postrider/platforms/publishing/media-unreadable";
import type { Failure } from "@postrider/platforms/publishing/outcome";
import type { MediaPart, Publication } from "@postrider/platforms/publishing/publication";
import type { PrepareStep, StepResult, StepWait } from "@postrider/platforms/publishing/steps";
import { failpoint } from "@postrider/shared/process/failpoints";
import { storeHandles } from "#src/publishing/db/handles.ts";
import { release, type Work, type Workshop } from "./work.ts";

/** Everything that the steps have made so far, and why they cannot go on, if so. */
export interface Prepared {
  readonly handles: Handles;
  readonly failure?: Failure;
}

/** A step that waits longer than this does not keep a worker. */
const MAX_WAIT_IN_WORK_MS = 1000;
/** Media does not answer: the task costs nothing and is taken again after about this long. */
const MEDIA_AWAY_MS = 5000;
const FAILURES: ReadonlySet<string> = new Set(["refused", "retryable", "token_refused"]);

export function isFailure(made: object): made is Failure {
  return "kind" in made && FAILURES.has(String(made.kind));
}

function isWait(made: StepResult): made is StepWait {
  return made.kind === "wait";
}

/** Runs the steps that are not done yet and stores what each makes before the next; undefined when the task was let go. */
export async function prepare(
  shop: Workshop,
  work: Work,
  publication: Publication,
): Promise<Prepared | undefined> {
  let { handles }: Prepared = work.task;
  for (const step of work.connector.steps(publication)) {
    if (step.isDone(handles)) continue;
    const made = await finishStep(shop, work, { step, publication, handles });
    if (made === undefined) return undefined;
    handles = made.handles;
    if (made.failure !== undefined) return made;
  }
  return { handles };
}

interface Step extends Pick<Prepared, "handles"> {
  readonly step: PrepareStep;
  readonly publication: Publication;
}

/** Runs one step to its end. A short wait is waited for here; for a long one the task is given back until then. */
async function finishStep(
  shop: Workshop,
  work: Work,
  { step, publication, ...before }: Step,
): Promise<Prepared | undefined> {
  const { task, interrupted } = work;
  let { handles } = before;
  for (;;) {
    const made = await attempt(shop, work, () => step.run(publication, handles, interrupted));
    if (made === undefined) return undefined;
    const added = toHandles(made);
    if (added !== undefined) {
      handles = { ...handles, ...added };
      const sealed = shop.deps.seals.seal(task, handles);
      if (!(await storeHandles(shop.deps.sql, task, sealed))) return undefined;
      failpoint("delivery.after-handles");
    }
    // What was made is stored first: whoever has the task next goes on from there.
    if (interrupted.aborted) return await letGo(shop, work, 0);
    if (isFailure(made)) return { handles, failure: made };
    if (!isWait(made)) return { handles };
    if (made.afterMs > MAX_WAIT_IN_WORK_MS) return await letGo(shop, work, made.afterMs);
    await setTimeout(made.afterMs, undefined, { signal: interrupted }).catch(() => undefined);
  }
}

function toHandles(made: StepResult): Handles | undefined {
  if (isFailure(made)) return undefined;
  return isWait(made) ? made.handles : made;
}

async function letGo(shop: Workshop, { task }: Work, delayMs: number): Promise<undefined> {
  await release(shop, [task], delayMs);
  return undefined;
}

/**
 * Does something invisible. What throws is a fault of ours or of a peer and is tried again like any other failure, but a
 * media service that is away says nothing about this post: the task is given back, which costs nothing.
 */
async function attempt<T extends object>(
  shop: Workshop,
  work: Work,
  run: () => Promise<T>,
): Promise<T | Failure | undefined> {
  try {
    return await run();
  } catch (error) {
    if (work.interrupted.aborted) return await letGo(shop, work, 0);
    shop.deps.logger.warn({ err: error, targetId: work.task.targetId }, "a step threw");
    if (!(error instanceof MediaUnreadable))
      return { kind: "retryable", code: "internal_error", message: "" };
    if (error.reason === "unavailable")
      return await letGo(shop, work, MEDIA_AWAY_MS * (0.5 + shop.deps.random()));
    const kind = error.reason === "gone" ? "refused" : "retryable";
    return { kind, code: "media_fetch_failed", message: error.message };
  }
}

/** A publication whose visible call reads from this machine what it carries; disposing removes that. */
export interface Carried extends AsyncDisposable {
  readonly publication: Publication;
  /** How much the visible call carries. */
  readonly bytes: number;
}

/** Brings what the visible call carries onto this machine; undefined when the task was let go. */
export async function carry(
  shop: Workshop,
  work: Work,
  publication: Publication,
  handles: Handles,
): Promise<Carried | Failure | undefined> {
  const parts = work.connector.visibleParts?.(publication, handles) ?? [];
  if (parts.length === 0)
    return { publication, bytes: 0, [Symbol.asyncDispose]: () => Promise.resolve() };
  return await attempt(shop, work, () => fetchParts(shop, work, publication, parts));
}

async function fetchParts(
  { deps }: Workshop,
  { interrupted }: Work,
  publication: Publication,
  parts: readonly MediaPart[],
): Promise<Carried> {
  const spooled = await deps.spool.fetch(publication.media, parts, interrupted);
  return {
    publication: { ...publication, media: spooled.media },
    bytes: parts.reduce((sum, { length }) => sum + length, 0),
    [Symbol.asyncDispose]: () => spooled[Symbol.asyncDispose](),
  };
}
