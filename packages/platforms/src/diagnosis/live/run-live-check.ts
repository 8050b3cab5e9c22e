import type { LiveCall, LiveCheckContext, LiveCheckEnd, LivePost } from "./check-context.ts";
import {
  DELETE_STEP,
  deleteAgain,
  deletePost,
  lookAfterDeletion,
  nameRest,
} from "./delete-steps.ts";
import { prepare, publish, type Called, type Prepared } from "./publish-steps.ts";
import {
  askForId,
  checkPermalink,
  lookAsReconciliation,
  lookAtUnpublished,
  lookByContent,
  type Looked,
} from "./read-steps.ts";
import { keepingPost, recordFinding, recordStep } from "./record-step.ts";

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
