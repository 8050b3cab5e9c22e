import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  MediaUse,
  ReleaseMediaRequest,
  ReleaseMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { deleteReleased, type Release } from "#src/db/media-usages.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";

const MAX_USES = 500;

/** Records that a newer version of the post or another request has renewed are kept. */
export async function releaseMedia(
  { sql }: Pick<RpcDependencies, "sql">,
  { uses }: ReleaseMediaRequest,
): Promise<MessageInitShape<typeof ReleaseMediaResponseSchema>> {
  if (uses.length > MAX_USES || !uses.every(isValid))
    throw invalidRequest([{ code: "invalid", path: "/uses" }]);
  if (uses.length > 0) await deleteReleased(sql, uses.map(toRelease));
  return {};
}

function isValid({ workspaceId, postId, mediaId, claimId }: MediaUse): boolean {
  const isClaim = claimId === undefined || isId(claimId);
  return isClaim && [workspaceId, postId, mediaId].every(isId);
}

function toRelease({ workspaceId, postId, mediaId, postVersion, claimId }: MediaUse): Release {
  return {
    workspaceId,
    postId,
    mediaId,
    postVersion: postVersion === undefined ? undefined : Number(postVersion),
    claimId,
  };
}
