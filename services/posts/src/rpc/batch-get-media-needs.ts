import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  BatchGetMediaNeedsRequest,
  BatchGetMediaNeedsResponseSchema,
} from "@postrider/contracts/posts/v1/media_use_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listMediaNeeds } from "#src/db/media-uses.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

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
