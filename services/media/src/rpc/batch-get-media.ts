import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import type {
  BatchGetMediaRequest,
  BatchGetMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { isId } from "@postrider/shared/ids";
import { listMediaByIds, type MediaRow } from "#src/db/media.ts";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";

function toMedia(row: MediaRow): MessageInitShape<typeof MediaSchema> {
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    status: row.status,
    kind: row.kind,
    contentType: row.contentType,
    bytes: BigInt(row.bytes),
    fileName: row.fileName,
    createdAt: timestampFromDate(row.createdAt),
    ...(row.width === null ? {} : { width: row.width }),
    ...(row.height === null ? {} : { height: row.height }),
    ...(row.durationMs === null ? {} : { durationMs: BigInt(row.durationMs) }),
    ...(row.sha256 === null ? {} : { sha256: row.sha256 }),
  };
}

/** Media of another workspace is left out like media that does not exist: callers cannot tell the two apart. */
export async function batchGetMedia(
  { sql }: MediaServiceDeps,
  request: BatchGetMediaRequest,
): Promise<MessageInitShape<typeof BatchGetMediaResponseSchema>> {
  const ids = request.ids.filter(isId);
  const rows = ids.length === 0 ? [] : await listMediaByIds(sql, request.workspaceId, ids);
  return { media: rows.map(toMedia) };
}
