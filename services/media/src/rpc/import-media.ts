import { createReadStream } from "node:fs";
import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import type {
  ImportMediaRequest,
  ImportMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest, ServiceError } from "@postrider/shared/errors";
import { isId, newId } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { Sql } from "@postrider/shared/postgres";
import { takeKeyOrReplay, type KeyedRequest } from "@postrider/shared/postgres/idempotency";
import { failpoint } from "@postrider/shared/process/failpoints";
import { insertReadyMedia, type ObjectKeys } from "#src/db/media.ts";
import type { CheckedMedia } from "#src/domain/checked-media.ts";
import { fileNameOf } from "#src/domain/file-name.ts";
import { objectKey } from "#src/domain/object-keys.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import { mediaReady } from "#src/events.ts";
import type { Imports } from "#src/operations/imports.ts";
import { claimOrReplay } from "#src/rpc/claim-import.ts";
import { toMedia } from "#src/rpc/to-media.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";

type Response = MessageInitShape<typeof ImportMediaResponseSchema>;

export interface ImportDeps {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly imports: Imports;
  /** @throws `unavailable` while the outbox is full. */
  readonly assertRoom: () => Promise<void>;
  /** Called after a commit that appended events. */
  readonly nudgeRelay: () => void;
}

/** Downloads a file, checks it and makes it media, ready at once. Before that nothing of it can be seen. */
export async function importMedia(
  deps: ImportDeps,
  request: ImportMediaRequest,
): Promise<Response> {
  const { workspaceId, url } = request;
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
  const keyed = toKeyed(request);
  if (keyed === undefined) return await carryOut(deps, { workspaceId, url, keyed });
  const claimed = await claimOrReplay(deps.sql, keyed);
  if (claimed.kind === "replay") return toReplay(claimed.response);
  await using _held = claimed;
  return await carryOut(deps, { workspaceId, url, keyed });
}

function toKeyed({ workspaceId, idempotency }: ImportMediaRequest): KeyedRequest | undefined {
  if (idempotency === undefined) return undefined;
  const { key, fingerprint } = idempotency;
  return { workspaceId, operation: "ImportMedia", key, fingerprint };
}

function toReplay(response: Uint8Array): Response {
  return { media: fromBinary(MediaSchema, response), replayed: true };
}

interface Import {
  readonly workspaceId: string;
  readonly url: string;
  readonly keyed: KeyedRequest | undefined;
}

async function carryOut(deps: ImportDeps, request: Import): Promise<Response> {
  await deps.assertRoom();
  return await deps.imports.run(request.workspaceId, request.url, async ({ path, media }) => {
    const keys = await putObjects(deps, path, media);
    failpoint("media.import-stored");
    return await accept(deps, request, media, keys);
  });
}

/** Stores the file, and the one for platforms when that is another. Until the row names them a job removes them. */
async function putObjects({ store }: ImportDeps, path: string, { delivery }: CheckedMedia) {
  const keys = {
    objectKey: objectKey(newId()),
    deliveryKey: delivery.kind === "rewritten" ? objectKey(newId()) : null,
  };
  await store.put(keys.objectKey, createReadStream(path));
  if (delivery.kind === "rewritten" && keys.deliveryKey !== null)
    await store.put(keys.deliveryKey, createReadStream(delivery.path));
  return keys;
}

/** Another request with the key was quicker: what this one made is undone. */
class Replayed extends Error {
  readonly response: Uint8Array;

  constructor(response: Uint8Array) {
    super("replayed");
    this.response = response;
  }
}

async function accept(
  deps: ImportDeps,
  request: Import,
  media: CheckedMedia,
  keys: ObjectKeys,
): Promise<Response> {
  try {
    const row = await insert(deps, request, media, keys);
    failpoint("media.import-committed");
    deps.nudgeRelay();
    return { media: toMedia(row), replayed: false };
  } catch (error) {
    // Any other failure may have come after the commit; a job removes the objects if they are nobody's.
    if (error instanceof Replayed || error instanceof ServiceError) await removeObjects(deps, keys);
    if (error instanceof Replayed) return toReplay(error.response);
    throw error;
  }
}

/** The new row comes before the key, because the answer shows its times; nobody can be waiting for that row. */
async function insert(
  { sql }: ImportDeps,
  { workspaceId, url, keyed }: Import,
  media: CheckedMedia,
  keys: ObjectKeys,
): Promise<StoredMedia> {
  return await sql.begin(async (tx) => {
    const named = { id: newId(), workspaceId, fileName: fileNameOf(url) };
    const row = await insertReadyMedia(tx, named, media, keys);
    if (keyed !== undefined) {
      const answer = toBinary(MediaSchema, create(MediaSchema, toMedia(row)));
      const replay = await takeKeyOrReplay(tx, keyed, answer);
      if (replay !== undefined) throw new Replayed(replay);
    }
    await appendEvents(tx, [mediaReady({ ...row, occurredAt: row.readyAt ?? row.createdAt })]);
    return row;
  });
}

/** Best effort: what is left over is found by a job. */
async function removeObjects({ store }: ImportDeps, { objectKey, deliveryKey }: ObjectKeys) {
  const present = [objectKey, ...(deliveryKey === null ? [] : [deliveryKey])];
  await Promise.allSettled(present.map((key) => store.delete(key)));
}
