import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  CreateUploadRequest,
  CreateUploadResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest, unprocessable } from "@postrider/shared/errors";
import { isId, newId } from "@postrider/shared/ids";
import { insertUpload, type NewUpload } from "#src/db/media.ts";
import { insertGrant } from "#src/db/upload-grants.ts";
import { checkDeclared, foldContentType, kindOf } from "#src/domain/accepted-types.ts";
import { directUploadKey } from "#src/domain/object-keys.ts";
import { hashUploadToken, newUploadToken } from "#src/operations/upload-token.ts";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";

/** Grants one upload. The answer is the only place where its token is ever seen. */
export async function createUpload(
  deps: MediaServiceDeps,
  request: CreateUploadRequest,
): Promise<MessageInitShape<typeof CreateUploadResponseSchema>> {
  const upload = parse(deps, request);
  // What is granted now is told of when it is ready.
  await deps.assertRoom();
  const uploadToken = newUploadToken();
  const expiresAt = await deps.sql.begin(async (tx) => {
    await insertUpload(tx, upload);
    return await insertGrant(tx, {
      mediaId: upload.id,
      workspaceId: upload.workspaceId,
      tokenSha256: hashUploadToken(uploadToken),
      validMs: deps.grantMs,
    });
  });
  const { contentType, bytes } = upload;
  const direct = { contentType, bytes, expiresAt };
  const uploadUrl = await deps.store.createUploadUrl(directUploadKey(upload.id), direct);
  return {
    id: upload.id,
    uploadPath: upload.id,
    uploadToken,
    expiresAt: timestampFromDate(expiresAt),
    ...(uploadUrl === undefined ? {} : { uploadUrl }),
  };
}

function parse({ limits }: MediaServiceDeps, request: CreateUploadRequest): NewUpload {
  const { workspaceId, fileName } = request;
  const bytes = Number(request.bytes);
  const contentType = foldContentType(request.contentType);
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
  if (bytes < 1) throw invalidRequest([{ code: "too_small", path: "/bytes", limit: 1 }]);
  const kind = kindOf(contentType);
  const violation = checkDeclared({ contentType, bytes }, limits);
  if (violation !== undefined || kind === undefined)
    throw unprocessable("media_rejected", violation === undefined ? [] : [violation]);
  return { id: newId(), workspaceId, kind, contentType, bytes, fileName };
}
