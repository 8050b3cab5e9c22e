import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdatePostRequest,
  UpdatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { assertIds } from "@postrider/shared/ids";
import { failpoint } from "@postrider/shared/process/failpoints";
import { releaseMedia } from "#src/clients/media.ts";
import { changeUnpublishedPost, type PostChange } from "#src/operations/change-unpublished-post.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { parseUpdatePost } from "#src/rpc/parse-post.ts";
import { toPost } from "#src/rpc/to-post.ts";

export async function updatePost(
  deps: PostsDeps,
  request: UpdatePostRequest,
): Promise<MessageInitShape<typeof UpdatePostResponseSchema>> {
  const { workspaceId, id: postId, ifVersion } = request;
  assertIds(workspaceId, postId);
  const { scheduledAt, ...changes } = parseUpdatePost(request);
  const change = await changeUnpublishedPost(
    deps,
    { workspaceId, postId },
    {
      operation: "update",
      ifVersion,
      force: false,
      changes,
      timing:
        scheduledAt === undefined ? { kind: "unchanged" } : { kind: "scheduled", scheduledAt },
    },
  );
  failpoint("posts.after-update-commit");
  deps.nudgeRelay();
  const { after } = change;
  if (after.status === "scheduled" && after.scheduledAt !== null)
    deps.nudgeScheduler(after.scheduledAt);
  await releaseMedia(deps.media, removedMedia(change));
  return { post: toPost(after) };
}

function removedMedia({ before, after }: PostChange) {
  const { workspaceId, id: postId, version: postVersion, mediaIds } = after;
  return before.mediaIds
    .filter((mediaId) => !mediaIds.includes(mediaId))
    .map((mediaId) => ({ workspaceId, postId, mediaId, postVersion }));
}
