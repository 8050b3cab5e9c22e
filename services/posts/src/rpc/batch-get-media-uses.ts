import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetMediaUsesRequest,
  BatchGetMediaUsesResponseSchema,
} from "@postrider/contracts/posts/v1/media_use_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listMediaUses } from "#src/db/media-uses.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

const MAX_POSTS = 500;

/** Says which of the named posts exist, and which of these have the media in the version that is committed. */
export async function batchGetMediaUses(
  { sql }: Pick<PostsDeps, "sql">,
  { workspaceId, mediaId, postIds }: BatchGetMediaUsesRequest,
): Promise<MessageInitShape<typeof BatchGetMediaUsesResponseSchema>> {
  if (postIds.length > MAX_POSTS) throw invalidRequest([{ code: "invalid", path: "/postIds" }]);
  // A post that seems not to exist lets media be deleted: what cannot be read is refused, never left out.
  if (![workspaceId, mediaId, ...postIds].every(isId)) throw invalidRequest();
  if (postIds.length === 0) return { uses: [] };
  const rows = await listMediaUses(sql, { workspaceId, mediaId }, postIds);
  return { uses: rows.map((row) => ({ ...row, version: BigInt(row.version) })) };
}
