import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetPostStatusesRequest,
  BatchGetPostStatusesResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listPostStatuses } from "#src/db/post-summaries.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

const MAX_REFS = 1_000;

/** A post of another workspace is missing, like one that does not exist. */
export async function batchGetPostStatuses(
  { sql }: Pick<PostsDeps, "sql">,
  { refs }: BatchGetPostStatusesRequest,
): Promise<MessageInitShape<typeof BatchGetPostStatusesResponseSchema>> {
  if (refs.length > MAX_REFS)
    throw invalidRequest([
      { code: "too_many_items", path: "/refs", limit: MAX_REFS, actual: refs.length },
    ]);
  const known = refs.filter(({ workspaceId, id }) => isId(workspaceId) && isId(id));
  if (known.length === 0) return { statuses: [] };
  const rows = await listPostStatuses(
    sql,
    known.map(({ workspaceId, id }) => ({ workspaceId, postId: id })),
  );
  return {
    statuses: rows.map(({ workspaceId, postId, status }) => ({
      ref: { workspaceId, id: postId },
      status,
    })),
  };
}
