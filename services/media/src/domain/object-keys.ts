import { isId } from "@postrider/shared/ids";

/** Where the store itself takes an upload; whoever has the address may write it again until the grant ends. */
export function directUploadKey(mediaId: string): string {
  return `uploads/${mediaId}`;
}

/** Where a direct upload is kept once a check has begun: out of reach of the address it was written with. */
export function pinnedKey(mediaId: string): string {
  return `objects/${mediaId}`;
}

/** A key for an object that we write ourselves, once. @param objectId Made for this one write, so that no two collide. */
export function objectKey(objectId: string): string {
  return `objects/${objectId}`;
}

/** Under which prefixes objects are. */
export const OBJECT_PREFIXES = ["uploads/", "objects/"] as const;

/** The media that a direct upload is for; undefined for any other key. */
export function uploadedMediaId(key: string): string | undefined {
  const id = key.startsWith("uploads/") ? key.slice("uploads/".length) : "";
  return isId(id) ? id : undefined;
}
