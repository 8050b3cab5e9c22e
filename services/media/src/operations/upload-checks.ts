import { createReadStream } from "node:fs";
import { join } from "node:path";
import { appendDeed, type Deed } from "@postrider/shared/audit/deeds";
import { newId } from "@postrider/shared/ids";
import { TRANSFER_RATE } from "@postrider/shared/limits/minimum-rate";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { transferShares } from "@postrider/shared/limits/transfer-shares";
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
import type { InspectedMedia, InspectFile, MediaViolation } from "#src/domain/inspected-media.ts";
import { objectKey } from "#src/domain/object-keys.ts";
import { toRejection, type StoredMedia } from "#src/domain/stored-media.ts";
import { mediaReady } from "#src/events.ts";
import { atMinimumRate } from "#src/storage/at-minimum-rate.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import type { TempSpace } from "#src/storage/temp-space.ts";
import { writeNewFile } from "#src/storage/write-new-file.ts";
import { locateUpload } from "./locate-upload.ts";
import { holdLease } from "./long-work.ts";

const CHECK_LIMITS = { total: 4, maxWaiting: 500, maxWaitingPerShare: 60 };

export interface UploadCheckOptions {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly inspect: InspectFile;
  readonly space: TempSpace;
  /** How long after its last renewal a lease protects the media. */
  readonly leaseMs: number;
  readonly logger: Logger;
  readonly nudgeRelay: () => void;
}

/**
 * The outcome of asking for the check of an upload.
 * - `settled`: the database row of the media contains the result of the check.
 * - `busy`: another replica checks these media.
 * - `missing`: nothing was uploaded.
 * - `unavailable`: the check failed for a reason that is not in the upload; a later check may
 *   succeed.
 */
export type CheckOutcome = "settled" | "busy" | "missing" | "unavailable";

type CheckedUpload = Pick<StoredMedia, "workspaceId" | "id" | "bytes">;

/**
 * Checks uploads under a lease, which expires when this process dies. A check continues after the
 * request has timed out, so that the next request finds the result.
 */
export class UploadChecks implements AsyncDisposable {
  readonly #options: UploadCheckOptions;
  readonly #running = new Map<string, Promise<CheckOutcome>>();
  readonly #permits = new Semaphore(CHECK_LIMITS);
  readonly #stopping = new AbortController();

  constructor(options: UploadCheckOptions) {
    this.#options = options;
  }

  /**
   * Waits for the end of the check, also of one that already runs. It begins when its workspace has
   * a fair share of temporary space and of checks. The promise never rejects.
   */
  run(media: CheckedUpload): Promise<CheckOutcome> {
    const { id } = media;
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    if (this.#stopping.signal.aborted) return Promise.resolve("unavailable");
    const started = this.#waitAndCheck(media);
    this.#running.set(id, started);
    void started.then(() => this.#running.delete(id));
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running.values());
  }

  /**
   * Space first: a check that waits for it would otherwise hold a permit that another could use.
   */
  async #waitAndCheck({ workspaceId, id, bytes }: CheckedUpload): Promise<CheckOutcome> {
    const { signal } = this.#stopping;
    // They fail only when too many checks wait, a wait takes too long, or the process stops.
    using space = await this.#options.space
      .reserve({ workspaceId, bytes, signal })
      .catch(() => undefined);
    if (space === undefined) return "unavailable";
    const shares = transferShares({ workspaceId });
    using permit = await this.#permits.acquire({ shares, signal }).catch(() => undefined);
    return permit === undefined ? "unavailable" : await this.#claimAndCheck(workspaceId, id);
  }

  async #claimAndCheck(workspaceId: string, id: string): Promise<CheckOutcome> {
    const { sql, leaseMs, logger } = this.#options;
    const lease = { workspaceId, id, token: newId() };
    try {
      if (!(await claimPending(sql, lease, leaseMs))) return "busy";
      await using held = holdLease({
        leaseMs,
        renew: () => renewLease(sql, lease, leaseMs),
        release: () => releaseLease(sql, lease),
      });
      const signal = AbortSignal.any([this.#stopping.signal, held.signal]);
      const media = await findMedia(sql, workspaceId, id);
      return media === undefined ? "settled" : await this.#check(media, lease, signal);
    } catch (error) {
      logger.warn(
        { err: error, workspaceId, step: "check" },
        "the check of an upload failed; the media stay pending until the client calls CompleteUpload again",
      );
      return "unavailable";
    }
  }

  async #check(media: StoredMedia, lease: MediaLease, signal: AbortSignal): Promise<CheckOutcome> {
    const { store, inspect, space } = this.#options;
    const key = await locateUpload(this.#options, media);
    const stored = key === undefined ? undefined : await store.stat(key);
    if (key === undefined || stored === undefined) return "missing";
    failpoint("media.upload-pinned");
    if (stored.bytes !== media.bytes)
      return await this.#reject(media, lease, lengthMismatch(media.bytes, stored.bytes));
    return await space.withFolder(async (folder) => {
      const path = join(folder, "upload");
      await copyObject(store, key, { path, signal });
      const declared = { contentType: media.contentType, bytes: media.bytes };
      const result = await inspect(path, declared, media.workspaceId);
      signal.throwIfAborted();
      if (result.kind === "unavailable") return "unavailable";
      if (result.kind === "rejected") return await this.#reject(media, lease, result.violation);
      return await this.#accept(lease, key, result.media);
    });
  }

  async #reject(
    media: StoredMedia,
    lease: MediaLease,
    violation: MediaViolation,
  ): Promise<CheckOutcome> {
    const { sql, store, logger } = this.#options;
    const rejected = await sql.begin(async (tx) => {
      const row = await markRejected(tx, lease, toRejection(violation));
      if (row !== undefined) await appendDeed(tx, completed(media));
      return row;
    });
    failpoint("media.rejected");
    if (rejected === undefined || rejected.objectKey === null) return "settled";
    try {
      await store.delete(rejected.objectKey);
      await forgetObjects(sql, [media.id], store);
    } catch (error) {
      logger.warn(
        { err: error, step: "delete" },
        "the object of a rejected upload could not be deleted; the job remove-objects tries again",
      );
    }
    return "settled";
  }

  async #accept(lease: MediaLease, key: string, media: InspectedMedia): Promise<CheckOutcome> {
    const { sql, store, nudgeRelay } = this.#options;
    const deliveryKey = await putDelivery(store, media);
    failpoint("media.checked");
    const ready = await sql.begin(async (tx) => {
      const row = await markReady(tx, lease, media, { objectKey: key, deliveryKey });
      if (row === undefined) return undefined;
      await appendEvents(tx, [mediaReady({ ...row, occurredAt: row.readyAt ?? row.createdAt })]);
      await appendDeed(tx, completed(row));
      return row;
    });
    // The media were deleted or another check holds the lease, so the file that this check wrote is
    // discarded.
    if (ready === undefined && deliveryKey !== null) await store.delete(deliveryKey);
    failpoint("media.ready-committed");
    nudgeRelay();
    return "settled";
  }
}

/** Recorded with the result, so that a repeated or refused request adds nothing. */
function completed({ workspaceId, id }: StoredMedia): Deed {
  return { action: "media.complete_upload", subject: { type: "media", id }, workspaceId };
}

/** The inspection needs random access. */
async function copyObject(
  store: ObjectStore,
  key: string,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): Promise<void> {
  const object = await store.open(key, undefined, signal);
  if (object === undefined)
    throw new Error("the uploaded object disappeared from the object store");
  const bytes = atMinimumRate(object.content, TRANSFER_RATE);
  await writeNewFile(path, bytes, { bufferBytes: 1024 * 1024, signal });
}

function lengthMismatch(limit: number, actual: number): MediaViolation {
  const message = "The length of the upload differs from the declared length.";
  return { code: "media_length_mismatch", message, limit, actual };
}

/** Stores the file that platforms receive, unless it is the uploaded file. */
async function putDelivery(
  store: ObjectStore,
  { delivery }: InspectedMedia,
): Promise<string | null> {
  if (delivery.kind !== "rewritten") return null;
  const key = objectKey(newId());
  await store.put(key, createReadStream(delivery.path));
  return key;
}
