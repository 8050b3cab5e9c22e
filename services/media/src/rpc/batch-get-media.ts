import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetMediaRequest,
  BatchGetMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { isId } from "@postrider/shared/ids";
import { listMediaByIds } from "#src/db/media.ts";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";
import { toMedia } from "#src/rpc/to-media.ts";

/** Media of another workspace is left out like media that does not exist: callers cannot tell the two apart. */
export async function batchGetMedia(
  { sql }: MediaServiceDeps,
  request: BatchGetMediaRequest,
): Promise<MessageInitShape<typeof BatchGetMediaResponseSchema>> {
  const ids = request.ids.filter(isId);
  const rows = ids.length === 0 ? [] : await listMediaByIds(sql, request.workspaceId, ids);
  return { media: rows.map(toMedia) };
}
