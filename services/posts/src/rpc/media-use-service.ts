import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  BatchGetMediaNeedsRequest,
  BatchGetMediaNeedsResponseSchema,
  BatchGetMediaUsesRequest,
  BatchGetMediaUsesResponseSchema,
} from "@postrider/contracts/posts/v1/media_use_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listMediaNeeds, listMediaUses } from "#src/db/media-uses.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

const MAX_POSTS_PER_CALL = 500;

export async function batchGetMediaUses(
  { sql }: Pick<PostsDeps, "sql">,
  { workspaceId, mediaId, postIds }: BatchGetMediaUsesRequest,
): Promise<MessageInitShape<typeof BatchGetMediaUsesResponseSchema>> {
  if (postIds.length > MAX_POSTS_PER_CALL)
    throw invalidRequest([{ code: "invalid", path: "/postIds" }]);
  // The media service may delete media when a post is missing in this response. A malformed id is
  // therefore an error and is not treated as a missing post.
  if (![workspaceId, mediaId, ...postIds].every(isId)) throw invalidRequest();
  if (postIds.length === 0) return { uses: [] };
  const rows = await listMediaUses(sql, { workspaceId, mediaId }, postIds);
  return { uses: rows.map((row) => ({ ...row, version: BigInt(row.version) })) };
}

const MAX_POSTS = 2_000;

/** A malformed id is an error: media whose post is missing in the answer may be deleted. */
export async function batchGetMediaNeeds(
  { sql }: Pick<PostsDeps, "sql">,
  { postIds }: BatchGetMediaNeedsRequest,
): Promise<MessageInitShape<typeof BatchGetMediaNeedsResponseSchema>> {
  if (postIds.length > MAX_POSTS || !postIds.every(isId)) throw invalidRequest();
  const posts = await listMediaNeeds(sql, postIds);
  return {
    posts: posts.map(({ endedAt, version, mediaIds, ...post }) => ({
      ...post,
      version: BigInt(version),
      mediaIds: [...mediaIds],
      ...(endedAt === null ? {} : { endedAt: timestampFromDate(endedAt) }),
    })),
  };
}
