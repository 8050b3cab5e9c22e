import { setTimeout as sleep } from "node:timers/promises";
import type { Handles } from "#src/publishing/handles.ts";
import type { Failure, Outcome } from "#src/publishing/outcome.ts";
import { isFailure, isWait, type PrepareStep } from "#src/publishing/steps.ts";
import {
  keepingPost,
  type LiveCall,
  type LiveCheckContext,
  type LiveCheckEnd,
  type LivePost,
  recordFinding,
  recordStep,
  type StepFinding,
} from "./check-context.ts";
import {
  DELETE_STEP,
  deleteAgain,
  deletePost,
  lookAfterDeletion,
  nameRest,
} from "./delete-steps.ts";
import {
  askForId,
  checkPermalink,
  lookAsReconciliation,
  lookAtUnpublished,
  lookByContent,
  type Looked,
} from "./read-steps.ts";

interface Prepared {
  readonly finding: StepFinding;
  readonly handles: Handles;
  /** Definitely, so that the step created nothing on the platform. */
  readonly isRefused?: boolean;
  readonly post?: LivePost;
}

interface Called {
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

async function prepare(context: LiveCheckContext): Promise<Prepared> {
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

async function publish(context: LiveCheckContext, handles: Handles): Promise<Called> {
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

async function readBack(
  context: LiveCheckContext,
  called: Called,
  call: LiveCall,
): Promise<LivePost | undefined> {
  let { post } = called;
  const search = async (name: string, run: () => Promise<Looked>): Promise<void> => {
    const isKnown = post !== undefined;
    const looked = await recordStep(context, name, () =>
      isKnown ? run() : keepingPost(context, run()),
    );
    post ??= looked.post;
  };
  await search("find it as after a lost answer", () => lookAsReconciliation(context, call, post));
  const { askLater } = called;
  if (post === undefined && askLater !== undefined)
    await search("ask for its id", () => askForId(context, askLater));
  await search("find it by its content", () => lookByContent(context, call, post));
  return post;
}

async function removePost(
  context: LiveCheckContext,
  call: LiveCall,
  post: LivePost,
): Promise<LiveCheckEnd> {
  const deleted = await recordFinding(context, DELETE_STEP, () => deletePost(context, post));
  if (deleted.status === "failed" && context.stopping.aborted) return "interrupted";
  if (deleted.status !== "ok") return "ended";
  await context.journal.dropPost();
  if (context.post.visibility !== "unpublished")
    await recordFinding(context, "find it no longer", () => lookAfterDeletion(context, call));
  await recordFinding(context, "delete it again", () => deleteAgain(context, post));
  return "ended";
}

async function checkUnpublished(
  context: LiveCheckContext,
  { handles, post }: Prepared,
): Promise<LiveCheckEnd> {
  if (post === undefined) {
    const found =
      "the preparation returned no id of an unpublished post, so there is nothing to read back";
    await recordFinding(context, "find it unpublished", () => ({ status: "failed", found }));
    return "ended";
  }
  const now = new Date();
  const call = { handles, calledAt: now, callUntil: now, isPending: false };
  await recordFinding(context, "find it unpublished", () => lookAtUnpublished(context, call));
  return await removePost(context, call, post);
}

/** If this process stops, another one continues the search. */
async function leavePost(context: LiveCheckContext): Promise<LiveCheckEnd> {
  if (context.stopping.aborted) return "interrupted";
  await recordFinding(context, DELETE_STEP, () => nameRest(context));
  return "ended";
}

/** The preparation may have created an unpublished post whose answer was lost. */
async function endUnprepared(
  context: LiveCheckContext,
  { isRefused }: Prepared,
): Promise<LiveCheckEnd> {
  const mayExist = context.post.visibility === "unpublished" && isRefused !== true;
  return mayExist ? await leavePost(context) : "ended";
}

/**
 * Prepares and publishes one post, reads it back as reconciliation would, deletes it and reads
 * again. Each step says whether the platform behaved as Postrider assumes.
 */
export async function runLiveCheck(context: LiveCheckContext): Promise<LiveCheckEnd> {
  const prepared = await recordStep(context, "prepare", () =>
    keepingPost(context, prepare(context)),
  );
  if (prepared.finding.status === "failed") return await endUnprepared(context, prepared);
  if (context.post.visibility === "unpublished") return await checkUnpublished(context, prepared);
  const called = await recordStep(context, "publish", () =>
    keepingPost(context, publish(context, prepared.handles)),
  );
  const { call } = called;
  if (call === undefined) return "ended";
  const post = await readBack(context, called, call);
  if (post === undefined) return await leavePost(context);
  await recordFinding(context, "open its permalink", () => checkPermalink(context, post));
  return await removePost(context, call, post);
}
