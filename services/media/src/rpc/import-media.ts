import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import type {
  ImportMediaRequest,
  ImportMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { ServiceError, unavailable } from "@postrider/shared/errors";
import { assertWorkspaceId, newId } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { Sql } from "@postrider/shared/postgres";
import {
  findReplay,
  type KeyedRequest,
  keyInProgress,
  takeKeyOrReplay,
} from "@postrider/shared/postgres/idempotency";
import { failpoint } from "@postrider/shared/process/failpoints";
import {
  claimImport,
  type ImportClaim,
  releaseImportClaim,
  renewImportClaim,
} from "#src/db/import-claims.ts";
import { insertReadyMedia, type ObjectKeys } from "#src/db/media.ts";
import { FORBIDDEN_CHARACTERS, MAX_FILE_NAME } from "#src/domain/file-name.ts";
import type { InspectedMedia } from "#src/domain/inspected-media.ts";
import { objectKey } from "#src/domain/object-keys.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import { mediaReady } from "#src/events.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { holdLease } from "#src/operations/long-work.ts";
import { checkStorage, storeWithinLimit } from "#src/operations/storage-limit.ts";
import { toMedia } from "#src/rpc/to-media.ts";
import { discardObjects } from "#src/storage/object-store.ts";

const LEASE_MS = 5000;
/** After this time the request fails with `idempotency_conflict`. */
const WAIT_MS = 2000;
const POLL_INTERVAL_MS = 100;

/**
 * Claims the idempotency key across all replicas, or finds the answer of an earlier request. A
 * download takes too long for an open transaction, so the claim is a lease; if two requests import
 * after one lost it, they still create one item of media, because the key can be stored only once.
 *
 * @throws `idempotency_conflict`, `idempotency_key_reused`
 */
async function claimOrReplay(
  sql: Sql,
  keyed: KeyedRequest,
): Promise<{ readonly held: AsyncDisposable } | { readonly replay: Response }> {
  const claim = { workspaceId: keyed.workspaceId, key: keyed.key, token: newId() };
  const endsAt = performance.now() + WAIT_MS;
  for (;;) {
    const isClaimed = await claimImport(sql, claim, LEASE_MS);
    try {
      // Read after claiming, because the previous request stores its answer before it releases its
      // claim.
      const response = await findReplay(sql, keyed);
      if (isClaimed && response === undefined) return { held: holdClaim(sql, claim) };
      if (isClaimed) await releaseImportClaim(sql, claim);
      if (response !== undefined) return { replay: toReplay(response) };
    } catch (error) {
      if (isClaimed) await releaseImportClaim(sql, claim);
      throw error;
    }
    if (performance.now() >= endsAt) throw keyInProgress();
    await sleep(POLL_INTERVAL_MS);
  }
}

function holdClaim(sql: Sql, claim: ImportClaim): AsyncDisposable {
  return holdLease({
    leaseMs: LEASE_MS,
    renew: async () => {
      await renewImportClaim(sql, claim, LEASE_MS);
      // Losing the claim is harmless, because the key can be stored only once.
      return true;
    },
    // The import has already ended, and the claim expires by itself.
    release: () => releaseImportClaim(sql, claim).catch(() => undefined),
  });
}

type Response = MessageInitShape<typeof ImportMediaResponseSchema>;

type Deps = Pick<
  RpcDependencies,
  "sql" | "store" | "imports" | "storageBytes" | "storageTurns" | "assertRoom" | "nudgeRelay"
>;

export async function importMedia(deps: Deps, request: ImportMediaRequest): Promise<Response> {
  const { workspaceId, url } = request;
  assertWorkspaceId(workspaceId);
  const keyed = toKeyed(request);
  if (keyed === undefined) return await runImport(deps, { workspaceId, url, keyed });
  const claimed = await claimOrReplay(deps.sql, keyed);
  if ("replay" in claimed) return claimed.replay;
  await using _held = claimed.held;
  return await runImport(deps, { workspaceId, url, keyed });
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

async function runImport(deps: Deps, request: Import): Promise<Response> {
  await deps.assertRoom();
  const { storageBytes: defaultLimitBytes } = deps;
  await checkStorage(deps, { workspaceId: request.workspaceId, bytes: 1, defaultLimitBytes });
  return await deps.imports.run(request.workspaceId, request.url, async ({ path, media }) => {
    const keys = await putObjects(deps, path, media);
    failpoint("media.import-stored");
    return await accept(deps, request, media, keys);
  });
}

/**
 * After a crash or a failure remove-orphans deletes both objects.
 *
 * @throws `unavailable` when the object store fails or is too slow.
 */
async function putObjects({ store }: Deps, path: string, { delivery }: InspectedMedia) {
  const keys = {
    objectKey: objectKey(newId()),
    deliveryKey: delivery.kind === "rewritten" ? objectKey(newId()) : null,
  };
  try {
    await store.put(keys.objectKey, createReadStream(path));
    if (delivery.kind === "rewritten" && keys.deliveryKey !== null)
      await store.put(keys.deliveryKey, createReadStream(delivery.path));
  } catch (error) {
    throw unavailable(error);
  }
  return keys;
}

/** Rolls back the transaction, because another request with the same key has committed first. */
class Replayed extends Error {
  readonly response: Uint8Array;

  constructor(response: Uint8Array) {
    super("replayed");
    this.response = response;
  }
}

async function accept(
  deps: Deps,
  request: Import,
  media: InspectedMedia,
  keys: ObjectKeys,
): Promise<Response> {
  try {
    const row = await insert(deps, request, media, keys);
    failpoint("media.import-committed");
    deps.nudgeRelay();
    return { media: toMedia(row), replayed: false };
  } catch (error) {
    // Any other error may follow a commit, so the objects are kept; remove-orphans deletes what no
    // row names.
    if (error instanceof Replayed || error instanceof ServiceError)
      await discardObjects(deps.store, [keys.objectKey, keys.deliveryKey]);
    if (error instanceof Replayed) return toReplay(error.response);
    throw error;
  }
}

/** The key is stored after the row: its response contains times of the row. */
async function insert(
  deps: Deps,
  { workspaceId, url, keyed }: Import,
  media: InspectedMedia,
  keys: ObjectKeys,
): Promise<StoredMedia> {
  const { storageBytes: defaultLimitBytes } = deps;
  const demand = { workspaceId, bytes: storedBytes(media), defaultLimitBytes };
  return await storeWithinLimit(deps, demand, async (tx) => {
    const named = { id: newId(), workspaceId, fileName: fileNameOf(url) };
    const row = await insertReadyMedia(tx, named, media, keys);
    if (keyed !== undefined) {
      const answer = toBinary(MediaSchema, create(MediaSchema, toMedia(row)));
      const replay = await takeKeyOrReplay(tx, keyed, answer);
      if (replay !== undefined) throw new Replayed(replay);
    }
    const subject = { type: "media", id: row.id } as const;
    await appendDeed(tx, { action: "media.import", subject, workspaceId });
    await appendEvents(tx, [mediaReady({ ...row, occurredAt: row.readyAt ?? row.createdAt })]);
    return row;
  });
}

/** The imported file, and that for platforms if it is stored separately. */
function storedBytes({ bytes, delivery }: InspectedMedia): number {
  return bytes + (delivery.kind === "rewritten" ? delivery.bytes : 0);
}

/** The last path segment of a URL, decoded, at most 255 characters; `file` when it is empty. */
export function fileNameOf(url: string): string {
  const segments = URL.parse(url)?.pathname.split("/") ?? [];
  const segment = segments.findLast((part) => part !== "") ?? "";
  const characters = Array.from(decode(segment).replaceAll(FORBIDDEN_CHARACTERS, "_"));
  const name = characters.slice(0, MAX_FILE_NAME).join("");
  return name.trim() === "" ? "file" : name;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
