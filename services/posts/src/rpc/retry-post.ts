import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RetryPostRequest,
  RetryPostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { notFound } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { findPost } from "#src/db/posts.ts";
import { type RetryDeps, retryTargets } from "#src/operations/retry-targets.ts";
import { toLocale, toPost } from "#src/rpc/to-post.ts";

export async function retryPost(
  deps: RetryDeps,
  { workspaceId, id: postId, locale }: RetryPostRequest,
): Promise<MessageInitShape<typeof RetryPostResponseSchema>> {
  assertIds(workspaceId, postId);
  const row = await retryTargets(deps, { workspaceId, postId }, {}, (tx) =>
    findPost(tx, workspaceId, postId),
  );
  if (row === undefined) throw notFound();
  return { post: toPost(row, toLocale(locale)) };
}
