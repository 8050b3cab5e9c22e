import type { CreateUploadResponse } from "@postrider/contracts/media/v1/media_service_pb";
import { toOptionalInstant } from "@postrider/rest/timestamps";

/**
 * Converts an upload grant to the form of the API. Its URL leads to the object store, or to the gateway if clients
 * cannot upload to the object store.
 */
export function toUploadGrant(grant: CreateUploadResponse, publicUrl: string) {
  const { id, uploadPath, uploadToken, uploadUrl } = grant;
  const ours = `${publicUrl}/uploads/${encodeURIComponent(uploadPath)}?token=${encodeURIComponent(uploadToken)}`;
  return {
    id,
    uploadUrl: uploadUrl ?? ours,
    uploadPath,
    uploadToken,
    expiresAt: toOptionalInstant(grant.expiresAt),
  };
}
