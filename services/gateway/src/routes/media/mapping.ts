import type { CreateUploadResponse } from "@postrider/contracts/media/v1/media_service_pb";
import { toOptionalInstant } from "@postrider/rest/timestamps";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import type { UpdateMedia } from "#src/routes/media/schemas.ts";

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

/**
 * Returns the fields of media to change, as the RPC expects them: an empty description removes the description, and a
 * cover time of -1 removes the cover.
 */
export function fromMediaChanges({ altText, coverMs }: Static<typeof UpdateMedia>) {
  return defined({
    altText: altText === null ? "" : altText,
    coverMs: coverMs === undefined ? undefined : BigInt(coverMs ?? -1),
  });
}
