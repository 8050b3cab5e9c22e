import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TargetUpdated } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import type {
  DeletePostRequest,
  DeletePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import type { Locale } from "@postrider/rest/locale";
import { toTargetError } from "@postrider/rest/posts/mapping";
import type { PostDeletionJson } from "@postrider/rest/posts/schemas";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { conflict, notFound, unavailable } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { failpoint } from "@postrider/shared/process/failpoints";
import { releaseMedia } from "#src/clients/media.ts";
import { deletePostRow, lockPost, type CommandPost } from "#src/db/command-posts.ts";
import type { PostRef } from "#src/db/posts.ts";
import { moveQuota } from "#src/db/quota-usage.ts";
import { lockTargetsOf, type TargetRow } from "#src/db/targets.ts";
import { cancelTarget, deleteOutcome, requestDeletion } from "#src/domain/deletion.ts";
import { destinations } from "#src/domain/post-status.ts";
import { postDeleted } from "#src/events.ts";
import { applyTargetUpdates } from "#src/operations/apply-target-updates.ts";
import { changeTargets, moveGuards, quotaMoves } from "#src/operations/change-targets.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { toLocale } from "#src/rpc/to-post.ts";

type Deps = Pick<PostsDeps, "sql" | "accounts" | "media" | "tasks" | "nudgeRelay" | "assertRoom">;
type Response = MessageInitShape<typeof DeletePostResponseSchema>;

/**
 * Then the request fails as unavailable: each time, another request changed the post before the
 * lock.
 */
const MAX_ROUNDS = 5;

interface Preparation {
  readonly post: CommandPost;
  readonly connected: ReadonlySet<string>;
  /** The targets that the delivery service has promised not to publish, with their generations. */
  readonly closed: ReadonlySet<string>;
  /** The outcomes of targets that had ended when they were to be closed. */
  readonly ended: readonly TargetUpdated[];
}

/** `targets`: in the order of the accounts. */
interface Cancelled {
  readonly kind: "cancelled";
  readonly targets: readonly TargetRow[];
  readonly version: number;
}

/** `outdated`: another request has changed the post meanwhile. */
type Outcome =
  | { readonly kind: "removed"; readonly mediaIds: readonly string[] }
  | Cancelled
  | { readonly kind: "outdated" };

/**
 * A draft or scheduled post is removed. Any other is cancelled: the delivery service promises not
 * to publish the open targets, and deletes the published ones. Other services are called before the
 * lock, and again if the post changed meanwhile.
 */
export async function deletePost(deps: Deps, request: DeletePostRequest): Promise<Response> {
  const { workspaceId, id: postId, ifVersion } = request;
  assertIds(workspaceId, postId);
  await deps.assertRoom();
  let expected = ifVersion;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const prepared = await prepare(deps, { workspaceId, postId }, expected);
    // The targets that the delivery service has closed cannot be published any more. The deletion
    // therefore continues even if the post does not have the expected version any more.
    if (prepared.closed.size > 0) expected = undefined;
    // In a transaction of its own, because each locks its counters once, in their order.
    if (prepared.ended.length > 0)
      await beginInTurn(deps.sql, workspaceId, (tx) => applyTargetUpdates(tx, prepared.ended));
    const outcome = await beginInTurn(deps.sql, workspaceId, (tx) =>
      deleteUnderLock(tx, prepared, expected),
    );
    if (outcome.kind === "outdated") continue;
    failpoint("posts.after-delete-commit");
    deps.nudgeRelay();
    if (outcome.kind === "cancelled") return toAnswer(request, outcome);
    const former = outcome.mediaIds.map((mediaId) => ({ workspaceId, postId, mediaId }));
    await releaseMedia(deps.media, former);
    return {};
  }
  throw unavailable();
}

function assertVersion(post: CommandPost, expected: bigint | undefined): void {
  if (expected !== undefined && BigInt(post.version) !== expected)
    throw conflict("precondition_failed");
}

async function prepare(
  deps: Deps,
  ref: PostRef,
  expected: bigint | undefined,
): Promise<Preparation> {
  const { post, targets } = await beginInTurn(deps.sql, ref.workspaceId, async (tx) => {
    const locked = await lockPost(tx, ref);
    if (locked === undefined) throw notFound();
    assertVersion(locked, expected);
    return { post: locked, targets: await lockTargetsOf(tx, [locked]) };
  });
  if (isRemovable(post)) return { post, connected: new Set(), closed: new Set(), ended: [] };
  const accountIds = [...new Set(targets.map(({ accountId }) => accountId))];
  const accounts = await deps.accounts.findAccounts(ref.workspaceId, accountIds);
  const connected = new Set(accounts.keys());
  const open = targets.filter(isOpen);
  if (post.status !== "publishing" || open.length === 0)
    return { post, connected, closed: new Set(), ended: [] };
  const ended = await closeTargets(deps, post, open);
  failpoint("posts.after-cancel-targets");
  return { post, connected, closed: new Set(open.map(keyOf)), ended };
}

/**
 * The delivery service promises not to publish them. Throws `post_publishing` when it has begun to
 * publish one; no service has changed anything then.
 */
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

function isRemovable({ status }: CommandPost): boolean {
  return destinations(status, "delete").includes("gone");
}

function isOpen({ status }: TargetRow): boolean {
  return status === "pending" || status === "publishing";
}

function keyOf({ id, generation }: TargetRow): string {
  return `${id} ${generation}`;
}

async function deleteUnderLock(
  tx: TransactionSql,
  prepared: Preparation,
  expected: bigint | undefined,
): Promise<Outcome> {
  const post = await lockPost(tx, prepared.post);
  if (post === undefined) throw notFound();
  assertVersion(post, expected);
  const targets = await lockTargetsOf(tx, [post]);
  if (isRemovable(post)) return await remove(tx, post, targets);
  const isPrepared =
    !isRemovable(prepared.post) &&
    targets.filter(isOpen).every((target) => prepared.closed.has(keyOf(target)));
  return isPrepared
    ? await cancel(tx, post, { targets, connected: prepared.connected })
    : { kind: "outdated" };
}

/** Records in the audit log who deleted the post, which may have been published. */
async function recordDeed(
  tx: TransactionSql,
  { workspaceId, postId, status }: CommandPost,
): Promise<void> {
  const subject = { type: "post", id: postId } as const;
  await appendDeed(tx, { action: "post.delete", subject, workspaceId, details: { status } });
}

async function remove(
  tx: TransactionSql,
  post: CommandPost,
  targets: readonly TargetRow[],
): Promise<Outcome> {
  const changes = targets.map((before) => ({ before, after: undefined }));
  await moveGuards(tx, changes);
  await recordDeed(tx, post);
  const mediaIds = await deletePostRow(tx, post);
  // The deletion is the last change of the post, so its version is above those of all events
  // before.
  const last = { ...post, version: post.version + 1, occurredAt: post.now };
  await appendEvents(tx, [postDeleted(last)]);
  await moveQuota(tx, quotaMoves(changes));
  return { kind: "removed", mediaIds };
}

async function cancel(
  tx: TransactionSql,
  post: CommandPost,
  known: { readonly targets: readonly TargetRow[]; readonly connected: ReadonlySet<string> },
): Promise<Outcome> {
  const pairs = known.targets.map((before) => {
    const isConnected = known.connected.has(before.accountId);
    return { before, after: requestDeletion(cancelTarget(before), { isConnected, again: true }) };
  });
  const [changed] = await changeTargets(tx, { posts: [post], pairs, command: "cancelled" });
  await recordDeed(tx, post);
  const targets = pairs.map(({ after }) => after).toSorted((a, b) => a.ordinal - b.ordinal);
  return { kind: "cancelled", targets, version: changed?.version ?? post.version };
}

/** `locale`: of the texts about errors. */
function toAnswer({ id, locale }: DeletePostRequest, { targets, version }: Cancelled): Response {
  const shown = targets.map((target) => toDeleteTarget(target, toLocale(locale)));
  const deletion: PostDeletionJson = { id, status: "cancelled", targets: shown };
  return { json: JSON.stringify(deletion), version: BigInt(version) };
}

function toDeleteTarget(target: TargetRow, locale: Locale): PostDeletionJson["targets"][number] {
  const { status, error } = deleteOutcome(target);
  const { accountId, platform } = target;
  const shown = toTargetError(error ?? undefined, { work: "deletion", status, platform }, locale);
  return { accountId, platform, status, error: shown };
}
