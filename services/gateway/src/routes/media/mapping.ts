import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { CreateUploadResponse } from "@postrider/contracts/media/v1/media_service_pb";
import { toOptionalInstant } from "#src/http/timestamps.ts";
import type { MediaLinks } from "#src/routes/media/links.ts";

/** Converts ready media to the form of the API, with a URL that is signed now. */
export function toReadyMedia(
  workspaceId: string,
  media: Media,
  { urlOf }: Pick<MediaLinks, "urlOf">,
) {
  return {
    id: media.id,
    status: "ready",
    kind: media.kind,
    contentType: media.contentType,
    bytes: Number(media.bytes),
    width: media.width,
    height: media.height,
    durationMs: media.durationMs === undefined ? null : Number(media.durationMs),
    sha256: media.sha256,
    fileName: media.fileName,
    url: urlOf(workspaceId, media.id),
    createdAt: toOptionalInstant(media.createdAt),
  };
}

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
