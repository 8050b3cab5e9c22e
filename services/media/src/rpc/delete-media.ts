import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeleteMediaRequest,
  DeleteMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { conflict, notFound, unavailable } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { failpoint } from "@postrider/shared/process/failpoints";
import { fetchUsingPosts, MAX_POSTS } from "#src/clients/posts.ts";
import {
  deleteAwaited,
  deleteUnready,
  lockMedia,
  markDeleting,
  type DeletedMedia,
} from "#src/db/media-deletion.ts";
import { deleteUsages, hasUsages, listUsages, type MediaRef } from "#src/db/media-usages.ts";
import { findMedia } from "#src/db/media.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import { blocksDeletion } from "#src/domain/usage.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";

type Deps = Pick<RpcDependencies, "sql" | "posts" | "store">;

/**
 * Maximum number of attempts to delete media, before DeleteMedia fails as unavailable. An attempt fails when the media change, or
 * a post starts to use them, between the call to the posts service and the lock.
 */
const MAX_ROUNDS = 5;

/**
 * Deletes media that no post uses. The media service asks the posts service without holding a lock. It then locks the
 * media and deletes them only if no post is recorded as their user. If a post was recorded in between, it tries again.
 */
export async function deleteMedia(
  deps: Deps,
  { workspaceId, id: mediaId }: DeleteMediaRequest,
): Promise<MessageInitShape<typeof DeleteMediaResponseSchema>> {
  if (!isId(workspaceId) || !isId(mediaId)) throw notFound();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const attempt = await tryToDelete(deps, { workspaceId, mediaId });
    if (attempt.kind === "deleted") return { gone: attempt.gone };
  }
  throw unavailable();
}

type Attempt = { readonly kind: "deleted"; readonly gone: boolean } | { readonly kind: "changed" };

/** Tries to delete media. Returns `changed` when the media have changed since they were read. */
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
    await removeObjects(deps, deleted);
    return { kind: "deleted", gone: true };
  }
  await deleteEndedUsages(deps, ref);
  const isDeleted = await beginInTurn(deps.sql, ref.workspaceId, (tx) => deleteUnused(tx, ref));
  if (!isDeleted) return { kind: "changed" };
  failpoint("media.after-delete-commit");
  return { kind: "deleted", gone: false };
}

/** Deletes media that are not ready. Returns undefined when they have become ready meanwhile. */
async function deletePending({ store }: Deps, tx: TransactionSql, ref: MediaRef) {
  const awaited = store.hasUploadUrls ? await deleteAwaited(tx, ref) : undefined;
  const deleted = awaited ?? (await deleteUnready(tx, ref));
  if (deleted !== undefined) await recordDeed(tx, ref);
  return deleted;
}

/** Records in the audit log who deleted the media. */
async function recordDeed(tx: TransactionSql, { workspaceId, mediaId }: MediaRef): Promise<void> {
  const subject = { type: "media", id: mediaId } as const;
  await appendDeed(tx, { action: "media.delete", subject, workspaceId });
}

/**
 * Deletes the objects of deleted media. A failure is ignored, because the job remove-orphans deletes objects that no
 * row names.
 */
async function removeObjects({ store }: Deps, media: DeletedMedia): Promise<void> {
  const { id, objectKey, deliveryKey } = media;
  const keys = [objectKey, deliveryKey, directUploadKey(id)].filter((key) => key !== null);
  await Promise.allSettled(keys.map((key) => store.delete(key)));
}

/**
 * Asks the posts service about every post that is recorded as a user of the media, and deletes the records of posts
 * that no longer use them.
 *
 * @throws `media_in_use` when a post uses the media or may still do so.
 */
async function deleteEndedUsages({ sql, posts }: Deps, ref: MediaRef): Promise<void> {
  let after: string | undefined;
  do {
    // The records are read before the posts service is called: a post version whose record is already old is never committed
    // after the answer of the posts service.
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
