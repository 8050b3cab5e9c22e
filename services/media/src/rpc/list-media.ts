import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListMediaRequest,
  ListMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest, ServiceError } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listLibrary } from "#src/db/media-library.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { readWorkspaceStorage } from "#src/operations/read-workspace-storage.ts";
import { toMedia } from "#src/rpc/to-media.ts";

const MAX_LIMIT = 100;

/**
 * A cursor is the id of the last media that the page before looked at. It needs no signature: with
 * the id of another workspace it shows nothing but a page of the caller's own media.
 */
export async function listMedia(
  deps: Pick<RpcDependencies, "sql" | "storageBytes">,
  request: ListMediaRequest,
): Promise<MessageInitShape<typeof ListMediaResponseSchema>> {
  const { workspaceId, limit, cursor, kind, unused: isUnused } = request;
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
  if (limit < 1 || limit > MAX_LIMIT) throw invalidRequest([{ code: "invalid", path: "/limit" }]);
  if (cursor !== "" && !isId(cursor)) throw new ServiceError("invalid", "invalid_cursor");
  const [page, storage] = await Promise.all([
    listLibrary(deps.sql, workspaceId, {
      kind: kind === "" ? undefined : kind,
      isUnused,
      isWithoutAltText: request.withoutAltText,
      limit,
      before: cursor === "" ? undefined : cursor,
    }),
    readWorkspaceStorage(deps, workspaceId),
  ]);
  return {
    media: page.rows.map((row) => ({ media: toMedia(row), posts: row.posts })),
    storage,
    ...(page.next === undefined ? {} : { nextCursor: page.next }),
  };
}
