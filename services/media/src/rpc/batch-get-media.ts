import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetMediaRequest,
  BatchGetMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { isId } from "@postrider/shared/ids";
import { listMediaByIds } from "#src/db/media.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { toMedia } from "#src/rpc/to-media.ts";

/**
 * Media of another workspace are omitted like unknown media, so that callers cannot tell them
 * apart.
 */
export async function batchGetMedia(
  { sql }: Pick<RpcDependencies, "sql">,
  request: BatchGetMediaRequest,
): Promise<MessageInitShape<typeof BatchGetMediaResponseSchema>> {
  const ids = request.ids.filter(isId);
  const rows = ids.length === 0 ? [] : await listMediaByIds(sql, request.workspaceId, ids);
  return { media: rows.map(toMedia) };
}
