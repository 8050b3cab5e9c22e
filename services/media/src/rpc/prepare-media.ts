import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  PrepareMediaRequest,
  PrepareMediaResponseSchema,
  PreparedMediaSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listMediaByIds } from "#src/db/media.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { toMedia } from "#src/rpc/to-media.ts";

const MAX_ITEMS = 500;

/** Returns the files that platforms receive. Media that are not ready have none. */
export async function prepareMedia(
  { sql }: Pick<RpcDependencies, "sql">,
  { items }: PrepareMediaRequest,
): Promise<MessageInitShape<typeof PrepareMediaResponseSchema>> {
  if (items.length > MAX_ITEMS) throw invalidRequest([{ code: "invalid", path: "/items" }]);
  const byWorkspace = Map.groupBy(items, ({ workspaceId }) => workspaceId);
  const rows = new Map<string, StoredMedia>();
  for (const [workspaceId, own] of byWorkspace) {
    const ids = own.map(({ mediaId }) => mediaId).filter(isId);
    if (ids.length === 0) continue;
    for (const row of await listMediaByIds(sql, workspaceId, ids))
      rows.set(`${workspaceId}/${row.id}`, row);
  }
  return {
    files: items.map(({ workspaceId, mediaId }) => toFile(rows.get(`${workspaceId}/${mediaId}`))),
  };
}

function toFile(media: StoredMedia | undefined): MessageInitShape<typeof PreparedMediaSchema> {
  if (media?.status !== "ready") return {};
  return {
    media: toMedia(media),
    renditionId: "delivery",
    contentType: media.deliveryContentType ?? "",
    bytes: BigInt(media.deliveryBytes ?? 0),
    sha256: media.deliverySha256 ?? "",
    width: media.width ?? 0,
    height: media.height ?? 0,
  };
}
