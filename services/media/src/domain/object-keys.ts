import { isId } from "@postrider/shared/ids";

/** The key of a direct upload to the object store. A client with the URL may overwrite it until the grant expires. */
export function directUploadKey(mediaId: string): string {
  return `uploads/${mediaId}`;
}

/** The key to which a check moves a direct upload, so that the client can no longer overwrite it. */
export function pinnedKey(mediaId: string): string {
  return `objects/${mediaId}`;
}

/** The key of an object that the media service itself writes, exactly once. @param objectId A new id for each write. */
export function objectKey(objectId: string): string {
  return `objects/${objectId}`;
}

/** The prefixes of all keys in the object store. */
export const OBJECT_PREFIXES = ["uploads/", "objects/"] as const;

/** The id of the media of a direct upload; undefined for other keys. */
export function uploadedMediaId(key: string): string | undefined {
  const id = key.startsWith("uploads/") ? key.slice("uploads/".length) : "";
  return isId(id) ? id : undefined;
}
