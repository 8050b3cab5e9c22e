import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { newId } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { Sql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  claimPending,
  forgetObjects,
  releaseLease,
  renewLease,
  type MediaLease,
} from "#src/db/media-leases.ts";
import { findMedia, markReady, markRejected } from "#src/db/media.ts";
import type { CheckedMedia, CheckMedia, MediaViolation } from "#src/domain/checked-media.ts";
import { objectKey } from "#src/domain/object-keys.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import { mediaReady } from "#src/events.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import { locateUpload } from "./locate-upload.ts";
import { withTempFolder } from "./temp-folder.ts";

/** Each may need as much of the disk as the largest upload. */
const MAX_AT_ONCE = 4;

export interface UploadCheckDeps {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly check: CheckMedia;
  /** Where files are while they are checked. */
  readonly tempDir: string;
  /** How long others leave a check alone after a sign of life. */
  readonly leaseMs: number;
  readonly logger: Logger;
  readonly nudgeRelay: () => void;
}

/**
 * What came of asking for a check. `settled`: the row says what was found. `busy`: somebody else checks it, or there is no
 * room right now. `missing`: nothing was uploaded. `unavailable`: trouble of ours, the same may succeed later.
 */
export type CheckOutcome = "settled" | "busy" | "missing" | "unavailable";

/**
 * Checks uploads, each at one place at a time: a lease on the row keeps other replicas away and ends by itself when this
 * process dies. A check goes on when the request that asked for it has given up, so that the next one finds it done.
 */
export class UploadChecks implements AsyncDisposable {
  readonly #deps: UploadCheckDeps;
  readonly #running = new Map<string, Promise<CheckOutcome>>();
  readonly #stopping = new AbortController();

  constructor(deps: UploadCheckDeps) {
    this.#deps = deps;
  }

  /** Never rejects. */
  run({ workspaceId, id }: StoredMedia): Promise<CheckOutcome> {
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    if (this.#stopping.signal.aborted) return Promise.resolve("unavailable");
    if (this.#running.size >= MAX_AT_ONCE) return Promise.resolve("busy");
    const begun = this.#claimAndCheck(workspaceId, id);
    this.#running.set(id, begun);
    void begun.then(() => this.#running.delete(id));
    return begun;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running.values());
  }

  async #claimAndCheck(workspaceId: string, id: string): Promise<CheckOutcome> {
    const { sql, leaseMs, logger } = this.#deps;
    const lease = { workspaceId, id, token: newId() };
    try {
      if (!(await claimPending(sql, lease, leaseMs))) return "busy";
      await using held = holdLease(sql, lease, leaseMs);
      const signal = AbortSignal.any([this.#stopping.signal, held.signal]);
      const media = await findMedia(sql, workspaceId, id);
      return media === undefined ? "settled" : await this.#check(media, lease, signal);
    } catch (error) {
      logger.warn({ err: error, workspaceId, step: "check" }, "an upload could not be checked");
      return "unavailable";
    }
  }

  async #check(media: StoredMedia, lease: MediaLease, signal: AbortSignal): Promise<CheckOutcome> {
    const { store, check, tempDir } = this.#deps;
    const key = await locateUpload(this.#deps, media);
    const stored = key === undefined ? undefined : await store.stat(key);
    if (key === undefined || stored === undefined) return "missing";
    failpoint("media.upload-pinned");
    if (stored.bytes !== media.bytes)
      return await this.#reject(media, lease, lengthMismatch(media.bytes, stored.bytes));
    return await withTempFolder(tempDir, async (folder) => {
      const path = join(folder, "upload");
      await copyObject(store, key, { path, signal });
      const result = await check(path, { contentType: media.contentType, bytes: media.bytes });
      signal.throwIfAborted();
      if (result.kind === "unavailable") return "unavailable";
      if (result.kind === "rejected") return await this.#reject(media, lease, result.violation);
      return await this.#accept(lease, key, result.media);
    });
  }

  async #reject(
    media: StoredMedia,
    lease: MediaLease,
    { code, limit, actual }: MediaViolation,
  ): Promise<CheckOutcome> {
    const { sql, store, logger } = this.#deps;
    const rejection = {
      code,
      ...(limit === undefined ? {} : { limit }),
      ...(actual === undefined ? {} : { actual }),
    };
    const rejected = await markRejected(sql, lease, rejection);
    failpoint("media.rejected");
    if (rejected === undefined || rejected.objectKey === null) return "settled";
    try {
      await store.delete(rejected.objectKey);
      await forgetObjects(sql, [media.id]);
    } catch (error) {
      logger.warn({ err: error, step: "delete" }, "a job removes the object of a rejected upload");
    }
    return "settled";
  }

  async #accept(lease: MediaLease, key: string, media: CheckedMedia): Promise<CheckOutcome> {
    const { sql, store, nudgeRelay } = this.#deps;
    const deliveryKey = await putDelivery(store, media);
    failpoint("media.checked");
    const ready = await sql.begin(async (tx) => {
      const row = await markReady(tx, lease, media, { objectKey: key, deliveryKey });
      if (row !== undefined)
        await appendEvents(tx, [mediaReady({ ...row, occurredAt: row.readyAt ?? row.createdAt })]);
      return row;
    });
    // Deleted, or checked by somebody who took this check for dead: what they decided stands.
    if (ready === undefined && deliveryKey !== null) await store.delete(deliveryKey);
    failpoint("media.ready-committed");
    nudgeRelay();
    return "settled";
  }
}

/** Renews the lease until disposed of; `signal` says when it was lost all the same. */
function holdLease(
  sql: Sql,
  lease: MediaLease,
  leaseMs: number,
): AsyncDisposable & { readonly signal: AbortSignal } {
  const lost = new AbortController();
  const timer = setInterval(() => {
    renewLease(sql, lease, leaseMs).then(
      (isHeld) => isHeld || lost.abort(new Error("the lease is somebody else's")),
      // The database may be back before the lease ends; the last word is the final update's.
      () => undefined,
    );
  }, leaseMs / 3);
  return {
    signal: lost.signal,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await releaseLease(sql, lease);
    },
  };
}

/** Copies an object to a file: what is checked lies still, in one place, whatever the store is. */
async function copyObject(
  store: ObjectStore,
  key: string,
  to: { readonly path: string; readonly signal: AbortSignal },
): Promise<void> {
  const object = await store.open(key, undefined, to.signal);
  if (object === undefined) throw new Error("an upload vanished from the object store");
  const file = createWriteStream(to.path, { flags: "wx", mode: 0o600, highWaterMark: 1024 * 1024 });
  await pipeline(object.content, file, { signal: to.signal });
}

function lengthMismatch(limit: number, actual: number): MediaViolation {
  return { code: "media_length_mismatch", message: "another length than declared", limit, actual };
}

/** Stores what platforms receive, when that is another file. */
async function putDelivery(store: ObjectStore, { delivery }: CheckedMedia): Promise<string | null> {
  if (delivery.kind !== "rewritten") return null;
  const key = objectKey(newId());
  await store.put(key, createReadStream(delivery.path));
  return key;
}
