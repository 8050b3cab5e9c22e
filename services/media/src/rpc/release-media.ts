import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  MediaUse,
  ReleaseMediaRequest,
  ReleaseMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { deleteReleased, type Release } from "#src/db/media-usages.ts";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";

const MAX_USES = 500;

/** Forgets usages, each only as far as the caller can know that it is over. */
export async function releaseMedia(
  { sql }: Pick<MediaServiceDeps, "sql">,
  { uses }: ReleaseMediaRequest,
): Promise<MessageInitShape<typeof ReleaseMediaResponseSchema>> {
  if (uses.length > MAX_USES || !uses.every(isSound))
    throw invalidRequest([{ code: "invalid", path: "/uses" }]);
  if (uses.length > 0) await deleteReleased(sql, uses.map(toRelease));
  return {};
}

function isSound({ workspaceId, postId, mediaId, claimId }: MediaUse): boolean {
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
