import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeleteMediaRequest,
  DeleteMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { conflict, notFound, unavailable } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { failpoint } from "@postrider/shared/process/failpoints";
import { fetchUsingPosts, MAX_POSTS } from "#src/clients/posts.ts";
import { deleteAwaited, deleteUnready, lockMedia, markDeleting } from "#src/db/media-deletion.ts";
import { deleteUsages, hasUsages, listUsages, type MediaRef } from "#src/db/media-usages.ts";
import { findMedia } from "#src/db/media.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import { blocksDeletion } from "#src/domain/usage.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { discardObjects } from "#src/storage/object-store.ts";

type Deps = Pick<RpcDependencies, "sql" | "posts" | "store">;

/**
 * An attempt fails when the media change, or a post starts to use them, between the call to posts
 * and the lock.
 */
const MAX_ROUNDS = 5;

/**
 * Asks the posts service without holding a lock, then locks the media and deletes them only if no
 * post is recorded as their user.
 */
export async function deleteMedia(
  deps: Deps,
  { workspaceId, id: mediaId }: DeleteMediaRequest,
): Promise<MessageInitShape<typeof DeleteMediaResponseSchema>> {
  assertIds(workspaceId, mediaId);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const attempt = await tryToDelete(deps, { workspaceId, mediaId });
    if (attempt.kind === "deleted") return { gone: attempt.gone };
  }
  throw unavailable();
}

type Attempt = { readonly kind: "deleted"; readonly gone: boolean } | { readonly kind: "changed" };

async function tryToDelete(deps: Deps, ref: MediaRef): Promise<Attempt> {
  const media = await findMedia(deps.sql, ref.workspaceId, ref.mediaId);
  if (media === undefined) throw notFound();
  if (media.status === "deleting") return { kind: "deleted", gone: false };
  if (media.status !== "ready") {
    const deleted = await beginInTurn(deps.sql, ref.workspaceId, (tx) =>
      deletePending(deps, tx, ref),
    );
    if (deleted === undefined) return { kind: "changed" };
    failpoint("media.after-delete-commit");
    const { id, objectKey, deliveryKey } = deleted;
    await discardObjects(deps.store, [objectKey, deliveryKey, directUploadKey(id)]);
    return { kind: "deleted", gone: true };
  }
  await deleteEndedUsages(deps, ref);
  const isDeleted = await beginInTurn(deps.sql, ref.workspaceId, (tx) => deleteUnused(tx, ref));
  if (!isDeleted) return { kind: "changed" };
  failpoint("media.after-delete-commit");
  return { kind: "deleted", gone: false };
}

async function deletePending({ store }: Deps, tx: TransactionSql, ref: MediaRef) {
  const awaited = store.hasUploadUrls ? await deleteAwaited(tx, ref) : undefined;
  const deleted = awaited ?? (await deleteUnready(tx, ref));
  if (deleted !== undefined) await recordDeed(tx, ref);
  return deleted;
}

async function recordDeed(tx: TransactionSql, { workspaceId, mediaId }: MediaRef): Promise<void> {
  const subject = { type: "media", id: mediaId } as const;
  await appendDeed(tx, { action: "media.delete", subject, workspaceId });
}

/**
 * Asks posts about every recorded user, and deletes the records of posts that no longer use the
 * media.
 *
 * @throws `media_in_use`
 */
async function deleteEndedUsages({ sql, posts }: Deps, ref: MediaRef): Promise<void> {
  let after: string | undefined;
  do {
    // Read before the call: a post version whose record is already old is never committed after the
    // answer.
    const usages = await listUsages(sql, ref, { after, limit: MAX_POSTS });
    if (usages.length === 0) return;
    const postIds = usages.map(({ postId }) => postId);
    const known = await fetchUsingPosts(posts, ref, postIds);
    const blocking = usages.find((usage) => blocksDeletion(usage, known.get(usage.postId)));
    if (blocking !== undefined)
      throw conflict("media_in_use", [{ code: "used_by_post", postId: blocking.postId }]);
    await deleteUsages(sql, ref, usages);
    after = usages.length < MAX_POSTS ? undefined : postIds.at(-1);
  } while (after !== undefined);
}

async function deleteUnused(tx: TransactionSql, ref: MediaRef): Promise<boolean> {
  const media = await lockMedia(tx, ref);
  if (media?.status !== "ready" || (await hasUsages(tx, ref))) return false;
  await markDeleting(tx, ref);
  await recordDeed(tx, ref);
  return true;
}
