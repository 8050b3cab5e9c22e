import type { Sql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { findMedia } from "#src/db/media.ts";
import { pinUpload } from "#src/db/upload-grants.ts";
import { directUploadKey, pinnedKey } from "#src/domain/object-keys.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";

/**
 * An attempt fails when the client overwrites its upload meanwhile, which a client that follows the
 * API does not.
 */
const MAX_MOVES = 3;

interface Options {
  readonly sql: Sql;
  readonly store: ObjectStore;
}

/**
 * Returns the key of the uploaded file, which the client can no longer overwrite; undefined when
 * nothing was uploaded. A direct upload is moved after its new key is stored in the row: after a
 * crash in between, the next call finishes the move.
 */
export async function locateUpload(
  options: Options,
  media: StoredMedia,
): Promise<string | undefined> {
  const { sql, store } = options;
  if (media.objectKey !== null && media.objectKey !== pinnedKey(media.id)) return media.objectKey;
  if (media.objectKey === null) {
    const uploaded = await store.stat(directUploadKey(media.id));
    if (uploaded === undefined) return undefined;
    if (!(await pinUpload(sql, media.id, pinnedKey(media.id))))
      return await locateOther(options, media);
    failpoint("media.upload-named");
  }
  return await moveUpload(store, media.id);
}

/** An upload through the gateway was accepted instead. */
async function locateOther({ sql }: Options, media: StoredMedia): Promise<string | undefined> {
  const current = await findMedia(sql, media.workspaceId, media.id);
  return current?.objectKey ?? undefined;
}

async function moveUpload(store: ObjectStore, mediaId: string): Promise<string | undefined> {
  const [from, to] = [directUploadKey(mediaId), pinnedKey(mediaId)];
  for (let round = 0; round < MAX_MOVES; round += 1) {
    if ((await store.stat(to)) !== undefined) return to;
    const uploaded = await store.stat(from);
    if (uploaded === undefined) return undefined;
    if (await store.move(from, to, uploaded.version)) return to;
  }
  throw new Error(`the client overwrote its direct upload during ${MAX_MOVES} attempts to move it`);
}
