import { isId } from "@postrider/shared/ids";

/** A client with the signed URL may overwrite the object until the grant expires. */
export function directUploadKey(mediaId: string): string {
  return `uploads/${mediaId}`;
}

/**
 * The key to which a check moves a direct upload, so that the client can no longer overwrite it.
 */
export function pinnedKey(mediaId: string): string {
  return `objects/${mediaId}`;
}

/** The key for an object that the media service writes once; `objectId` is new for each write. */
export function objectKey(objectId: string): string {
  return `objects/${objectId}`;
}

export const OBJECT_PREFIXES = ["uploads/", "objects/"] as const;

export function uploadedMediaId(key: string): string | undefined {
  const id = key.startsWith("uploads/") ? key.slice("uploads/".length) : "";
  return isId(id) ? id : undefined;
}
