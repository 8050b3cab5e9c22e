import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UseMediaRequest,
  UseMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { recordUsages } from "#src/db/media-usages.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { toMedia } from "#src/rpc/to-media.ts";

const MAX_IDS = 500;

/**
 * Returns media and records that the post uses them: before they are deleted, posts is asked about
 * it.
 */
export async function useMedia(
  { sql }: Pick<RpcDependencies, "sql">,
  request: UseMediaRequest,
): Promise<MessageInitShape<typeof UseMediaResponseSchema>> {
  const { workspaceId, postId, claimId } = request;
  const faults = [workspaceId, postId, claimId].every(isId) ? [] : [{ code: "invalid", path: "/" }];
  if (request.ids.length > MAX_IDS) faults.push({ code: "invalid", path: "/ids" });
  if (faults.length > 0) throw invalidRequest(faults);
  const mediaIds = request.ids.filter(isId);
  if (mediaIds.length === 0) return { media: [] };
  const postVersion = Number(request.postVersion);
  const rows = await recordUsages(sql, { workspaceId, mediaIds, postId, postVersion, claimId });
  return { media: rows.map(toMedia) };
}
