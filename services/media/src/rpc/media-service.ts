import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetMediaRequest,
  BatchGetMediaResponseSchema,
  ListMediaRequest,
  ListMediaResponseSchema,
  MediaUse,
  ReleaseMediaRequest,
  ReleaseMediaResponseSchema,
  UseMediaRequest,
  UseMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest, ServiceError } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listLibrary } from "#src/db/media-library.ts";
import { deleteReleased, recordUsages, type Release } from "#src/db/media-usages.ts";
import { listMediaByIds } from "#src/db/media.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { readWorkspaceStorage } from "#src/operations/read-workspace-storage.ts";
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
