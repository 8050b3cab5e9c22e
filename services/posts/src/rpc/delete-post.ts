import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TargetUpdated } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import type {
  DeletePostRequest,
  DeletePostResponseSchema,
  DeleteTargetSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { conflict, notFound, unavailable } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { releaseMedia } from "#src/clients/media.ts";
import { deletePostRow, lockPost, type CommandPost } from "#src/db/command-posts.ts";
import { findPost, type PostRef } from "#src/db/posts.ts";
import { lockTargetsOf, type TargetRow } from "#src/db/targets.ts";
import { cancelTarget, deleteOutcome, requestDeletion } from "#src/domain/deletion.ts";
import { destinations } from "#src/domain/transitions.ts";
import { postDeleted } from "#src/events.ts";
import { changeTargets } from "#src/operations/change-targets.ts";
import { moveHoldings } from "#src/operations/target-holdings.ts";
import { applyTargetNews } from "#src/operations/target-updates.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";
import { toPost } from "#src/rpc/to-post.ts";

type Deps = Pick<
  PostServiceDeps,
  "sql" | "accounts" | "media" | "tasks" | "nudgeRelay" | "assertRoom"
>;
type Response = MessageInitShape<typeof DeletePostResponseSchema>;

/** What was done, and the media that no post has now because of it. */
interface Deleted {
  readonly answer: Response;
  readonly mediaIds: readonly string[];
}

/** How often a post may change between the look at it and its lock. */
const MAX_ROUNDS = 5;

/** A post as it was a moment ago, and what has been found out since, without its lock. */
interface Look {
  readonly post: CommandPost;
  readonly connected: ReadonlySet<string>;
  /** Targets that delivery will not send any more, at a generation. */
  readonly closed: ReadonlySet<string>;
  readonly ended: readonly TargetUpdated[];
}

/**
 * Removes what was not begun; else cancels what delivery lets it cancel and asks for the deletion of what is out. What
 * other services have to say is asked before the post is locked; when it has changed by then, everything is asked again.
 */
export async function deletePost(deps: Deps, request: DeletePostRequest): Promise<Response> {
  const { workspaceId, id: postId, ifVersion } = request;
  if (!isId(workspaceId) || !isId(postId)) throw notFound();
  await deps.assertRoom();
  let wanted = ifVersion;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const look = await lookAt(deps, { workspaceId, postId }, wanted);
    // What delivery has closed is as good as cancelled: from here on the post the client saw is being deleted.
    if (look.closed.size > 0) wanted = undefined;
    const deleted = await deps.sql.begin((tx) => deleteAsSeen(tx, look, wanted));
    if (deleted === undefined) continue;
    failpoint("posts.after-delete-commit");
    deps.nudgeRelay();
    const former = deleted.mediaIds.map((mediaId) => ({ workspaceId, postId, mediaId }));
    await releaseMedia(deps.media, former);
    return deleted.answer;
  }
  throw unavailable();
}

function assertVersion(post: CommandPost, wanted: bigint | undefined): void {
  if (wanted !== undefined && BigInt(post.version) !== wanted)
    throw conflict("precondition_failed");
}

async function lookAt(deps: Deps, ref: PostRef, wanted: bigint | undefined): Promise<Look> {
  const { post, targets } = await deps.sql.begin(async (tx) => {
    const locked = await lockPost(tx, ref);
    if (locked === undefined) throw notFound();
    assertVersion(locked, wanted);
    return { post: locked, targets: await lockTargetsOf(tx, [locked]) };
  });
  if (isUnbegun(post)) return { post, connected: new Set(), closed: new Set(), ended: [] };
  const accountIds = [...new Set(targets.map(({ accountId }) => accountId))];
  const accounts = await deps.accounts.findAccounts(ref.workspaceId, accountIds);
  const open = targets.filter(isOpen);
  const isRunning = post.status === "publishing" && open.length > 0;
  const ended = isRunning ? await closeTargets(deps, post, open) : [];
  if (isRunning) failpoint("posts.after-cancel-targets");
  const closed = new Set(isRunning ? open.map(keyOf) : []);
  return { post, connected: new Set(accounts.keys()), closed, ended };
}

/** @throws `post_publishing` when a call has begun; then nothing has changed anywhere. */
async function closeTargets(
  { tasks }: Deps,
  { workspaceId, postId }: CommandPost,
  open: readonly TargetRow[],
): Promise<readonly TargetUpdated[]> {
  const targets = open.map(({ id: targetId, generation, accountId, platform }) => ({
    ref: { workspaceId, targetId, generation },
    accountId,
    platform,
  }));
  const { ended } = await tasks.cancelTargets({ postId, targets });
  return ended;
}

function isUnbegun({ status }: CommandPost): boolean {
  return destinations(status, "delete").includes("gone");
}

function isOpen({ status }: TargetRow): boolean {
  return status === "pending" || status === "publishing";
}

function keyOf({ id, generation }: TargetRow): string {
  return `${id} ${generation}`;
}

/** Undefined when the post is not as it was looked at. */
async function deleteAsSeen(
  tx: TransactionSql,
  look: Look,
  wanted: bigint | undefined,
): Promise<Deleted | undefined> {
  if (look.ended.length > 0) await applyTargetNews(tx, look.ended);
  const post = await lockPost(tx, look.post);
  if (post === undefined) throw notFound();
  assertVersion(post, wanted);
  const targets = await lockTargetsOf(tx, [post]);
  if (isUnbegun(post)) return await remove(tx, post, targets);
  const isKnown =
    !isUnbegun(look.post) &&
    targets.filter(isOpen).every((target) => look.closed.has(keyOf(target)));
  if (!isKnown) return undefined;
  const answer = await cancel(tx, post, { targets, connected: look.connected });
  return { answer, mediaIds: [] };
}

async function remove(
  tx: TransactionSql,
  post: CommandPost,
  targets: readonly TargetRow[],
): Promise<Deleted> {
  await moveHoldings(
    tx,
    targets.map((before) => ({ before, after: undefined })),
  );
  const mediaIds = await deletePostRow(tx, post);
  await appendEvents(tx, [postDeleted({ ...post, occurredAt: post.now })]);
  return { answer: {}, mediaIds };
}

async function cancel(
  tx: TransactionSql,
  post: CommandPost,
  known: { readonly targets: readonly TargetRow[]; readonly connected: ReadonlySet<string> },
): Promise<Response> {
  const pairs = known.targets.map((before) => {
    const isConnected = known.connected.has(before.accountId);
    return { before, after: requestDeletion(cancelTarget(before), { isConnected, again: true }) };
  });
  await changeTargets(tx, { posts: [post], pairs, command: "cancelled" });
  const row = await findPost(tx, post.workspaceId, post.postId);
  if (row === undefined) throw notFound();
  const targets = pairs
    .map(({ after }) => after)
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .map(toDeleteTarget);
  return { post: toPost(row), targets };
}

function toDeleteTarget(target: TargetRow): MessageInitShape<typeof DeleteTargetSchema> {
  const { status, error } = deleteOutcome(target);
  const { accountId, platform } = target;
  return { accountId, platform, status, ...(error === null ? {} : { error: { ...error } }) };
}
