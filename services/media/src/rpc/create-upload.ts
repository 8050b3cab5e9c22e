import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  CreateUploadRequest,
  CreateUploadResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { invalidRequest, unprocessable } from "@postrider/shared/errors";
import { isId, newId } from "@postrider/shared/ids";
import { insertUpload, type NewUpload } from "#src/db/media.ts";
import { hashUploadToken, insertGrant, newUploadToken } from "#src/db/upload-grants.ts";
import { checkDeclared, foldContentType, kindOf } from "#src/domain/accepted-types.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { assertUploadCount, storeWithinLimit } from "#src/operations/storage-limit.ts";

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
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
  if (bytes < 1) throw invalidRequest([{ code: "too_small", path: "/bytes", limit: 1 }]);
  const violation = checkDeclared({ contentType, bytes }, limits);
  if (violation !== undefined) throw unprocessable("media_rejected", [violation]);
  // Unknown type: the limit of videos holds until the check has read the bytes.
  const kind = kindOf(contentType) ?? "video";
  return { id: newId(), workspaceId, kind, contentType, bytes, fileName };
}
