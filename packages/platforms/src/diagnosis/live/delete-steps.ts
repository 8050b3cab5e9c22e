import type { LiveCall, LiveCheckContext, LivePost, StepFinding } from "./check-context.ts";
import { isNotThere, lookUntil } from "./look.ts";

const DELETE_MS = 30_000;

/** Deletes the post. It does so also while the process stops, so that no post is left. */
export async function deletePost(
  { connector, publication }: LiveCheckContext,
  { externalId, permalink }: LivePost,
): Promise<StepFinding> {
  if (!connector.canDelete)
    return {
      status: "warning",
      found: `the platform lets no program delete posts: delete ${permalink ?? externalId} by hand`,
    };
  const deadline = AbortSignal.timeout(DELETE_MS);
  try {
    const outcome = await connector.delete(publication, externalId, deadline);
    if (outcome.kind === "deleted") return { status: "ok", found: "the platform deleted the post" };
    const found = `the platform did not delete the post: ${outcome.message}; delete ${permalink ?? externalId} by hand`;
    return { status: "failed", found };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown error";
    return {
      status: "failed",
      found: `the deletion failed: ${reason}; delete ${permalink ?? externalId} by hand`,
    };
  }
}

/** Searches for the deleted post by its content. */
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

/** Repeats the deletion, as Postrider does after a lost answer; the platform must say again that the post is gone. */
export async function deleteAgain(context: LiveCheckContext, post: LivePost): Promise<StepFinding> {
  const finding = await deletePost(context, post);
  return finding.status === "ok"
    ? { status: "ok", found: "a repeated deletion is harmless" }
    : { ...finding, status: "warning", found: `a repeated deletion is refused: ${finding.found}` };
}
