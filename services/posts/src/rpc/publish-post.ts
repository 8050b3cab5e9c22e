import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  PublishPostRequest,
  PublishPostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { assertIds } from "@postrider/shared/ids";
import { failpoint } from "@postrider/shared/process/failpoints";
import { changeUnpublishedPost } from "#src/operations/change-unpublished-post.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { toPost } from "#src/rpc/to-post.ts";

export async function publishPost(
  deps: PostsDeps,
  { workspaceId, id: postId, force }: PublishPostRequest,
): Promise<MessageInitShape<typeof PublishPostResponseSchema>> {
  assertIds(workspaceId, postId);
  const change = await changeUnpublishedPost(
    deps,
    { workspaceId, postId },
    { operation: "publish", ifVersion: undefined, force, changes: {}, timing: { kind: "now" } },
  );
  failpoint("posts.after-publish-commit");
  deps.nudgeRelay();
  return { post: toPost(change.after) };
}
