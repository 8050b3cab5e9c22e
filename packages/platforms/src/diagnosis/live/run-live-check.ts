import type { Handles } from "#src/publishing/handles.ts";
import type { LiveCall, LiveCheckContext, LivePost, StepFinding } from "./check-context.ts";
import { deleteAgain, deletePost, lookAfterDeletion } from "./delete-steps.ts";
import { prepare, publish, type Called } from "./publish-steps.ts";
import {
  askForId,
  checkPermalink,
  lookAsReconciliation,
  lookAtUnpublished,
  lookByContent,
} from "./read-steps.ts";

/** Runs one step, records how it ended, and returns its result. */
async function step<T extends { readonly finding: StepFinding }>(
  { journal }: LiveCheckContext,
  name: string,
  run: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const result = await run();
  const tookMs = Math.round(performance.now() - startedAt);
  await journal.addStep({ name, ...result.finding, tookMs });
  return result;
}

async function stepOf(
  context: LiveCheckContext,
  name: string,
  run: () => Promise<StepFinding>,
): Promise<StepFinding> {
  return (await step(context, name, async () => ({ finding: await run() }))).finding;
}

/** Reads back what was published, in every way in which Postrider reads posts, and returns the post. */
async function readBack(
  context: LiveCheckContext,
  called: Called,
  call: LiveCall,
): Promise<LivePost | undefined> {
  const looked = await step(context, "find it as after a lost answer", () =>
    lookAsReconciliation(context, call, called.post),
  );
  let post = called.post ?? looked.post;
  if (post === undefined && called.askLater !== undefined) {
    const { askLater } = called;
    ({ post } = await step(context, "ask for its id", () => askForId(context, askLater)));
  }
  if (post !== undefined && called.post === undefined) await context.journal.keepPost(post);
  const found = await step(context, "find it by its content", () =>
    lookByContent(context, call, post),
  );
  return post ?? found.post;
}

async function removePost(
  context: LiveCheckContext,
  call: LiveCall,
  post: LivePost,
): Promise<void> {
  const deleted = await stepOf(context, "delete it", () => deletePost(context, post));
  if (deleted.status !== "ok") return;
  await context.journal.dropPost();
  if (context.post.visibility !== "unpublished")
    await stepOf(context, "find it no longer", () => lookAfterDeletion(context, call));
  await stepOf(context, "delete it again", () => deleteAgain(context, post));
}

/** Checks a platform with a post that stays unpublished: the preparation creates it, and the publishing call is left out. */
async function checkUnpublished(context: LiveCheckContext, handles: Handles): Promise<void> {
  const { postId } = handles;
  if (postId === undefined) {
    const found =
      "the preparation returned no id of an unpublished post, so there is nothing to read back";
    await stepOf(context, "find it unpublished", () =>
      Promise.resolve({ status: "failed", found }),
    );
    return;
  }
  const post = { externalId: postId, permalink: null };
  await context.journal.keepPost(post);
  const now = new Date();
  const call = { handles, calledAt: now, callUntil: now, isPending: false };
  await stepOf(context, "find it unpublished", () => lookAtUnpublished(context, call));
  await removePost(context, call, post);
}

/** Says what may be left on the platform when the id of the post is not known. */
async function nameRest(context: LiveCheckContext): Promise<void> {
  const found = `the id of the post is not known: look for “${context.publication.text}” and delete it by hand`;
  await stepOf(context, "delete it", () => Promise.resolve({ status: "warning", found }));
}

/**
 * Makes a round trip with one post through the connector's own code: prepares and publishes it once, reads it back as
 * reconciliation would, deletes it and reads again. Each step says whether our assumption about the platform held.
 */
export async function runLiveCheck(context: LiveCheckContext): Promise<void> {
  const prepared = await step(context, "prepare", () => prepare(context));
  if (prepared.finding.status === "failed") return;
  if (context.post.visibility === "unpublished")
    return await checkUnpublished(context, prepared.handles);
  const called = await step(context, "publish", () => publish(context, prepared.handles));
  const { call } = called;
  if (call === undefined) return;
  if (called.post !== undefined) await context.journal.keepPost(called.post);
  const post = await readBack(context, called, call);
  if (post === undefined) return await nameRest(context);
  await stepOf(context, "open its permalink", () => checkPermalink(context, post));
  await removePost(context, call, post);
}
