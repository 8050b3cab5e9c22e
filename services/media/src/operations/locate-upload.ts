import type { Sql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { findMedia } from "#src/db/media.ts";
import { pinUpload } from "#src/db/upload-grants.ts";
import { directUploadKey, pinnedKey } from "#src/domain/object-keys.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";

/** A direct upload that is written again while it is taken is looked at so often; more is nobody's honest client. */
const MAX_MOVES = 3;

interface Deps {
  readonly sql: Sql;
  readonly store: ObjectStore;
}

/**
 * Finds where the bytes of pending media are, out of reach of whoever uploaded them: undefined when nothing was uploaded.
 * What went to the store itself is named first and moved then, so that a crash in between loses no upload: whoever comes
 * next finds the name and ends the move.
 */
export async function locateUpload(deps: Deps, media: StoredMedia): Promise<string | undefined> {
  const { sql, store } = deps;
  if (media.objectKey !== null && media.objectKey !== pinnedKey(media.id)) return media.objectKey;
  if (media.objectKey === null) {
    const uploaded = await store.stat(directUploadKey(media.id));
    if (uploaded === undefined) return undefined;
    if (!(await pinUpload(sql, media.id, pinnedKey(media.id))))
      return await locateOther(deps, media);
    failpoint("media.upload-named");
  }
  return await moveUpload(store, media.id);
}

/** An upload through us came first. */
async function locateOther({ sql }: Deps, media: StoredMedia): Promise<string | undefined> {
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
  throw new Error("an upload is written again and again");
}
