import { setTimeout as sleep } from "node:timers/promises";
import type { Handles } from "#src/publishing/handles.ts";
import type { Failure, Outcome } from "#src/publishing/outcome.ts";
import { isFailure, isWait, type PrepareStep } from "#src/publishing/steps.ts";
import type { LiveCall, LiveCheckContext, LivePost, StepFinding } from "./check-context.ts";

export interface Prepared {
  readonly finding: StepFinding;
  readonly handles: Handles;
  /** Definitely, so that the step created nothing on the platform. */
  readonly isRefused?: boolean;
  readonly post?: LivePost;
}

export interface Called {
  readonly finding: StepFinding;
  readonly call?: LiveCall;
  readonly post?: LivePost;
  /** With which the connector asks for the post's id, which the platform assigns later. */
  readonly askLater?: Handles;
}

function describeFailure(failure: Failure): string {
  const code = failure.kind === "token_refused" ? "the access token was refused" : failure.code;
  return failure.message === "" ? code : `${code}: ${failure.message}`;
}

type StepEnd =
  | { readonly kind: "done"; readonly handles: Handles }
  | { readonly kind: "failed"; readonly found: string; readonly isRefused?: boolean };

async function finishStep(
  { publication, patienceMs, stopping }: LiveCheckContext,
  step: PrepareStep,
  before: Handles,
): Promise<StepEnd> {
  const endAt = performance.now() + patienceMs;
  let handles = before;
  while (!step.isDone(handles)) {
    if (stopping.aborted) return { kind: "failed", found: "the process stops" };
    if (performance.now() > endAt)
      return { kind: "failed", found: `the platform was not ready within ${patienceMs / 1000} s` };
    const made = await step.run(publication, handles, stopping);
    if (isFailure(made)) {
      const isRefused = made.kind !== "retryable";
      return { kind: "failed", found: describeFailure(made), isRefused };
    }
    const isWaiting = isWait(made);
    handles = { ...handles, ...(isWaiting ? made.handles : made) };
    if (!isWaiting) break;
    const waitMs = Math.min(made.afterMs, Math.max(0, endAt - performance.now()));
    await sleep(waitMs, undefined, { signal: stopping }).catch(() => undefined);
  }
  return { kind: "done", handles };
}

export async function prepare(context: LiveCheckContext): Promise<Prepared> {
  let handles: Handles = {};
  const names: string[] = [];
  for (const step of context.connector.steps(context.publication)) {
    const end = await finishStep(context, step, handles);
    if (end.kind === "failed") {
      const { found, isRefused = false } = end;
      return { finding: { status: "failed", found: `${step.name}: ${found}` }, handles, isRefused };
    }
    ({ handles } = end);
    names.push(step.name);
  }
  const list =
    names.length === 0
      ? "the platform needs no preparation"
      : `steps that ended: ${names.join(", ")}`;
  return { finding: { status: "ok", found: list }, handles, ...toUnpublished(context, handles) };
}

/** The connector keeps the id of an unpublished post in the handle `postId`. */
function toUnpublished(
  { post: { visibility } }: LiveCheckContext,
  { postId }: Handles,
): Pick<Prepared, "post"> {
  const isCreated = visibility === "unpublished" && postId !== undefined;
  return isCreated ? { post: { externalId: postId, permalink: null } } : {};
}

function failed(found: string): StepFinding {
  return { status: "failed", found };
}

function toPublished(
  { externalId, permalink, caveat, askLater }: Extract<Outcome, { kind: "published" }>,
  call: LiveCall,
): Called {
  const found =
    externalId === null
      ? "the platform took the post and returns its id later"
      : `the platform returned the id ${externalId}`;
  const finding: StepFinding =
    caveat === undefined
      ? { status: "ok", found }
      : { status: "warning", found: `${found}; ${caveat.message}` };
  const post = externalId === null ? {} : { post: { externalId, permalink } };
  return { finding, call, ...post, ...(askLater === undefined ? {} : { askLater }) };
}

function toCalled(outcome: Outcome, call: LiveCall): Called {
  if (outcome.kind === "published") return toPublished(outcome, call);
  if (outcome.kind === "pending")
    return {
      finding: { status: "ok", found: "the platform has the whole post and processes it" },
      call: { ...call, handles: { ...call.handles, ...outcome.handles }, isPending: true },
    };
  if (outcome.kind === "unknown")
    return {
      finding: failed(`the answer does not say whether the post exists: ${outcome.message}`),
      call,
    };
  if (outcome.kind === "not_sent")
    return { finding: failed("the call was not sent: this process was too slow") };
  return { finding: failed(describeFailure(outcome)) };
}

export async function publish(context: LiveCheckContext, handles: Handles): Promise<Called> {
  const permission = await context.journal.beginCall();
  if (permission.kind === "refused")
    return { finding: { status: "failed", found: permission.message } };
  const { guard, calledAt, callUntil } = permission;
  const call = { handles, calledAt, callUntil, isPending: false };
  try {
    const outcome = await context.connector.publish(context.publication, handles, guard);
    return toCalled(outcome, call);
  } catch (error) {
    const found = `the publishing call threw an error: ${error instanceof Error ? error.message : "unknown"}`;
    return { finding: { status: "failed", found }, call };
  }
}
