import { setTimeout as sleep } from "node:timers/promises";
import type { DeletionOutcome } from "#src/publishing/outcome.ts";
import type { LiveCall, LiveCheckContext, LivePost, StepFinding } from "./check-context.ts";
import { isNotThere, lookUntil } from "./read-steps.ts";

export const DELETE_STEP = "delete it";
const DELETE_MS = 30_000;
const RETRY_MS = 2_000;

/** When the id of the post is not known. */
export function nameRest({ connector, publication, post }: LiveCheckContext): StepFinding {
  const { text } = publication;
  if (!connector.canDelete) {
    const found = `the platform lets no program delete posts: look for “${text}” in its app and delete it`;
    return { status: "warning", found };
  }
  const { visibility } = post;
  const place = visibility === "unpublished" ? " among the unpublished posts" : "";
  const found = `the id of the post is not known: look for “${text}”${place} and delete it by hand`;
  return { status: "warning", found };
}

/** Repeats a failed deletion while it may still succeed. A process that stops tries once. */
async function tryDelete(
  { connector, publication, patienceMs, stopping }: LiveCheckContext,
  { externalId, permalink }: LivePost,
): Promise<DeletionOutcome> {
  const deadline = AbortSignal.timeout(DELETE_MS);
  const endAt = performance.now() + Math.min(DELETE_MS, patienceMs);
  for (;;) {
    const outcome = await connector.delete(publication, externalId, deadline, permalink);
    const mayRepeat = outcome.kind === "retryable" || outcome.kind === "unknown";
    const isOver = stopping.aborted || performance.now() + RETRY_MS > endAt;
    if (!mayRepeat || isOver) return outcome;
    await sleep(RETRY_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}

/** Even while the process stops, so that no post is left on the platform. */
export async function deletePost(context: LiveCheckContext, post: LivePost): Promise<StepFinding> {
  const { externalId, permalink } = post;
  const byHand = `delete ${permalink ?? externalId} by hand`;
  if (!context.connector.canDelete)
    return { status: "warning", found: `the platform lets no program delete posts: ${byHand}` };
  try {
    const outcome = await tryDelete(context, post);
    if (outcome.kind === "deleted") return { status: "ok", found: "the platform deleted the post" };
    const found = `the platform did not delete the post: ${outcome.message}; ${byHand}`;
    return { status: "failed", found };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown error";
    return { status: "failed", found: `the deletion failed: ${reason}; ${byHand}` };
  }
}

export async function lookAfterDeletion(
  context: LiveCheckContext,
  call: LiveCall,
): Promise<StepFinding> {
  const find = context.connector.findMatchingPost;
  if (find === undefined)
    return { status: "skipped", found: "the platform has no list of posts to search" };
  const verdict = await lookUntil(context, find, { ...call, handles: {} }, isNotThere);
  if (isNotThere(verdict)) return { status: "ok", found: "the post is no longer found" };
  if (verdict.kind === "present")
    return { status: "failed", found: "the post is still found after its deletion" };
  return { status: "warning", found: "the account's posts could not be read after the deletion" };
}

/** As Postrider does after a lost answer; the platform must say again that the post is gone. */
export async function deleteAgain(context: LiveCheckContext, post: LivePost): Promise<StepFinding> {
  const finding = await deletePost(context, post);
  return finding.status === "ok"
    ? { status: "ok", found: "a repeated deletion is harmless" }
    : { ...finding, status: "warning", found: `a repeated deletion is refused: ${finding.found}` };
}
