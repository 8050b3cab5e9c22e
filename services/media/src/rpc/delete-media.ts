import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeleteMediaRequest,
  DeleteMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { conflict, notFound, unavailable } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { fetchUsingPosts, MAX_POSTS } from "#src/clients/posts.ts";
import {
  deleteUnready,
  lockMedia,
  markDeleting,
  type DeletedMedia,
} from "#src/db/media-deletion.ts";
import { deleteFormerUsages, hasUsages, listUsages, type MediaRef } from "#src/db/media-usages.ts";
import { findMedia } from "#src/db/media.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import { blocksDeletion } from "#src/domain/usage.ts";
import { mediaDeleted } from "#src/events.ts";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";

type Deps = Pick<MediaServiceDeps, "sql" | "posts" | "store" | "nudgeRelay">;

/** How often media may change, or be used by one more post that is not there yet, while they are looked at. */
const MAX_ROUNDS = 5;

/**
 * Deletes media that no post uses. Posts is asked without a lock; with the lock the media are deleted only if no usage is
 * left, so that one which was noted in between is asked about in another round.
 */
export async function deleteMedia(
  deps: Deps,
  { workspaceId, id: mediaId }: DeleteMediaRequest,
): Promise<MessageInitShape<typeof DeleteMediaResponseSchema>> {
  if (!isId(workspaceId) || !isId(mediaId)) throw notFound();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const answer = await tryToDelete(deps, { workspaceId, mediaId });
    if (answer !== undefined) return answer;
  }
  throw unavailable();
}

/** Undefined when the media are not as they were looked at. */
async function tryToDelete(deps: Deps, ref: MediaRef): Promise<{ gone: boolean } | undefined> {
  const media = await findMedia(deps.sql, ref.workspaceId, ref.mediaId);
  if (media === undefined) throw notFound();
  if (media.status === "deleting") return { gone: false };
  if (media.status !== "ready") {
    const deleted = await deleteUnready(deps.sql, ref);
    if (deleted === undefined) return undefined;
    failpoint("media.after-delete-commit");
    await removeObjects(deps, deleted);
    return { gone: true };
  }
  await forgetFormerUsages(deps, ref);
  const isDeleted = await deps.sql.begin((tx) => deleteUnused(tx, ref));
  if (!isDeleted) return undefined;
  failpoint("media.after-delete-commit");
  deps.nudgeRelay();
  return { gone: false };
}

/** What is not removed now is nobody's from here on, and a job removes it. */
async function removeObjects({ store }: Deps, media: DeletedMedia): Promise<void> {
  const { id, objectKey, deliveryKey } = media;
  const keys = [objectKey, deliveryKey, directUploadKey(id)].filter((key) => key !== null);
  await Promise.allSettled(keys.map((key) => store.delete(key)));
}

/**
 * Asks posts about every usage and forgets those that are over.
 *
 * @throws `media_in_use` at the first that is not.
 */
async function forgetFormerUsages({ sql, posts }: Deps, ref: MediaRef): Promise<void> {
  let after: string | undefined;
  do {
    // Read before posts is asked: what was old by then cannot be committed after the answer.
    const usages = await listUsages(sql, ref, { after, limit: MAX_POSTS });
    if (usages.length === 0) return;
    const postIds = usages.map(({ postId }) => postId);
    const known = await fetchUsingPosts(posts, ref, postIds);
    if (usages.some((usage) => blocksDeletion(usage, known.get(usage.postId))))
      throw conflict("media_in_use");
    await deleteFormerUsages(sql, ref, usages);
    after = usages.length < MAX_POSTS ? undefined : postIds.at(-1);
  } while (after !== undefined);
}

async function deleteUnused(tx: TransactionSql, ref: MediaRef): Promise<boolean> {
  const media = await lockMedia(tx, ref);
  if (media?.status !== "ready" || (await hasUsages(tx, ref))) return false;
  const deleting = await markDeleting(tx, ref);
  await appendEvents(tx, deleting.map(mediaDeleted));
  return true;
}
