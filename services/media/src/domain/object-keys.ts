import { isId } from "@postrider/shared/ids";

/**
 * Returns the object key of a direct upload to the object store. A client with the signed URL may overwrite the object
 * until the upload grant expires.
 */
export function directUploadKey(mediaId: string): string {
  return `uploads/${mediaId}`;
}

/**
 * Returns the object key to which an upload check moves a direct upload, so that the client can no longer overwrite the
 * object.
 */
export function pinnedKey(mediaId: string): string {
  return `objects/${mediaId}`;
}

/**
 * Returns the key for an object that the media service itself writes. Each key is written only once.
 *
 * @param objectId A new id for each write.
 */
export function objectKey(objectId: string): string {
  return `objects/${objectId}`;
}

/** The prefixes of all object keys in the object store. */
export const OBJECT_PREFIXES = ["uploads/", "objects/"] as const;

/** Returns the media id in the object key of a direct upload; undefined for other object keys. */
export function uploadedMediaId(key: string): string | undefined {
  const id = key.startsWith("uploads/") ? key.slice("uploads/".length) : "";
  return isId(id) ? id : undefined;
}
