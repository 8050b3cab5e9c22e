import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetPostRequest,
  GetPostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { findPost } from "#src/db/posts.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { toLocale, toPost } from "#src/rpc/to-post.ts";

export async function getPost(
  { sql }: Pick<PostsDeps, "sql">,
  { workspaceId, id, locale }: GetPostRequest,
): Promise<MessageInitShape<typeof GetPostResponseSchema>> {
  const row = isId(workspaceId) && isId(id) ? await findPost(sql, workspaceId, id) : undefined;
  if (row === undefined) throw notFound();
  return { post: toPost(row, toLocale(locale)) };
}
