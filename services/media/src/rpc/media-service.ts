import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  BatchGetMediaRequest,
  BatchGetMediaResponseSchema,
  CreateUploadRequest,
  CreateUploadResponseSchema,
  ListMediaRequest,
  ListMediaResponseSchema,
  MediaUse,
  ReleaseMediaRequest,
  ReleaseMediaResponseSchema,
  UseMediaRequest,
  UseMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { invalidRequest, unprocessable } from "@postrider/shared/errors";
import { assertWorkspaceId, isId, newId } from "@postrider/shared/ids";
import { encodeTextCursor, requireTextCursor } from "@postrider/shared/secrets/list-cursor";
import { listLibrary } from "#src/db/media-library.ts";
import { deleteReleased, recordUsages, type Release } from "#src/db/media-usages.ts";
import { insertUpload, listMediaByIds, type NewUpload } from "#src/db/media.ts";
import { hashUploadToken, insertGrant, newUploadToken } from "#src/db/upload-grants.ts";
import { checkDeclared, foldContentType, kindOf } from "#src/domain/accepted-types.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import { PREVIEW_PLANS } from "#src/domain/preview.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { readWorkspaceStorage } from "#src/operations/read-workspace-storage.ts";
import { assertUploadCount, storeWithinLimit } from "#src/operations/storage-limit.ts";
import { toMedia } from "#src/rpc/to-media.ts";

/**
 * Media of another workspace are omitted like unknown media, so that callers cannot tell them
 * apart.
 */
export async function batchGetMedia(
  { sql, links }: Pick<RpcDependencies, "sql" | "links">,
  { workspaceId, withUrls, ids: wanted }: BatchGetMediaRequest,
): Promise<MessageInitShape<typeof BatchGetMediaResponseSchema>> {
  const ids = wanted.filter(isId);
  const rows = ids.length === 0 ? [] : await listMediaByIds(sql, workspaceId, ids);
  const media = rows.map(toMedia);
  if (!withUrls) return { media };
  const urls = rows.map(({ id }) => [id, links.urlOf(workspaceId, id)] as const);
  return { media, urls: Object.fromEntries(urls) };
}

const MAX_LIMIT = 100;

/** A cursor contains the id of the last media that the page before looked at. */
export async function listMedia(
  deps: Pick<RpcDependencies, "sql" | "storageBytes" | "storageTurns" | "cursorKeys">,
  request: ListMediaRequest,
): Promise<MessageInitShape<typeof ListMediaResponseSchema>> {
  const { workspaceId, limit, cursor, kind, unused: isUnused, withoutAltText } = request;
  assertWorkspaceId(workspaceId);
  if (limit < 1 || limit > MAX_LIMIT) throw invalidRequest([{ code: "invalid", path: "/limit" }]);
  const scope = ["media", workspaceId, kind, String(isUnused), String(withoutAltText)];
  const before = cursor === "" ? undefined : requireTextCursor(deps.cursorKeys, scope, cursor);
  const [page, storage] = await Promise.all([
    listLibrary(deps.sql, workspaceId, {
      kind: kind === "" ? undefined : kind,
      isUnused,
      isWithoutAltText: withoutAltText,
      previewPlans: PREVIEW_PLANS,
      limit,
      before,
    }),
    readWorkspaceStorage(deps, workspaceId),
  ]);
  return {
    media: page.rows.map((row) => ({
      media: toMedia(row),
      posts: row.posts,
      isPrepared: row.isPrepared,
      converted: row.converted.map((file) => ({ ...file, bytes: BigInt(file.bytes) })),
    })),
    storage,
    ...(page.next === undefined
      ? {}
      : { nextCursor: encodeTextCursor(deps.cursorKeys, scope, page.next) }),
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

/** Only the response contains the upload token; the database stores a hash of it. */
export async function createUpload(
  deps: Pick<
    RpcDependencies,
    "sql" | "store" | "limits" | "grantMs" | "storageBytes" | "storageTurns" | "assertRoom"
  >,
  request: CreateUploadRequest,
): Promise<MessageInitShape<typeof CreateUploadResponseSchema>> {
  const upload = parse(deps, request);
  // Every grant leads to an event, so new ones are refused while the outbox is full.
  await deps.assertRoom();
  const uploadToken = newUploadToken();
  const { workspaceId, bytes } = upload;
  const demand = { workspaceId, bytes, defaultLimitBytes: deps.storageBytes };
  const expiresAt = await storeWithinLimit(deps, demand, async (tx, uploadCount) => {
    assertUploadCount(uploadCount);
    await insertUpload(tx, upload);
    const subject = { type: "media", id: upload.id } as const;
    await appendDeed(tx, { action: "media.create_upload", subject, workspaceId });
    return await insertGrant(tx, {
      mediaId: upload.id,
      workspaceId,
      tokenSha256: hashUploadToken(uploadToken),
      validMs: deps.grantMs,
    });
  });
  const direct = { contentType: headerOf(request.contentType), bytes, expiresAt };
  const uploadUrl = await deps.store.createUploadUrl(directUploadKey(upload.id), direct);
  return {
    id: upload.id,
    uploadPath: upload.id,
    uploadToken,
    expiresAt: timestampFromDate(expiresAt),
    ...(uploadUrl === undefined ? {} : { uploadUrl }),
  };
}

/**
 * A direct upload is signed for the type as the client declared it, because the client sends that;
 * the store would refuse the type under its main name.
 */
function headerOf(contentType: string): string {
  const text = contentType.trim();
  return /^[ -~]*$/.test(text) ? text : foldContentType(text);
}

function parse(
  { limits }: Pick<RpcDependencies, "limits">,
  request: CreateUploadRequest,
): NewUpload {
  const { workspaceId, fileName } = request;
  const bytes = Number(request.bytes);
  const contentType = foldContentType(request.contentType);
  assertWorkspaceId(workspaceId);
  if (bytes < 1) throw invalidRequest([{ code: "too_small", path: "/bytes", limit: 1 }]);
  const violation = checkDeclared({ contentType, bytes }, limits);
  if (violation !== undefined) throw unprocessable("media_rejected", [violation]);
  // Unknown type: the limit of videos holds until the check has read the bytes.
  const kind = kindOf(contentType) ?? "video";
  return { id: newId(), workspaceId, kind, contentType, bytes, fileName };
}
