import { DeploymentGuard } from "@postrider/shared/deployment/guard";
import {
  compareDeployments,
  type ForeignReason,
  type Ownership,
} from "@postrider/shared/deployment/ownership";
import { conflict, unavailable } from "@postrider/shared/errors";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import {
  countStorePass,
  type DeploymentState,
  findDeployment,
  insertDeployment,
  recordRestore,
} from "#src/db/deployment.ts";
import { listStoredKeys } from "#src/db/media.ts";
import { OBJECT_PREFIXES } from "#src/domain/object-keys.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import { readMarker, writeMarker } from "#src/storage/store-marker.ts";
import { describeHold, ownerOf, permits, type StoreOwner } from "./store-owner.ts";

/** How long a marker that was read counts for new files and those that the database names. */
const MARKER_MS = 60_000;
/** How many files of media are looked for in a store without a marker. */
const SAMPLED_FILES = 3;

const dataHeldGauge = createGauge(
  "media_deletions_held",
  "1 while no stored file is deleted because the data belongs to another database or deployment.",
);
const storeHeldGauge = createGauge(
  "media_store_held",
  "1 while stored files are kept because the object store is not marked as that of this deployment.",
);

export type StoreState =
  | { readonly kind: "foreign_data"; readonly reason: ForeignReason }
  | { readonly kind: "own_data"; readonly keptUntil: Date | null; readonly owner: StoreOwner };

interface StoreGuardOptions {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly deploymentId: string;
  readonly logger: Logger;
}

/**
 * Decides whether this process may delete files: not while its data is a copy, or the marker in the
 * store names another deployment. The files that a copy does not know, or deletes, may be those of
 * the original.
 */
export class StoreGuard {
  readonly data: DeploymentGuard;
  readonly #options: StoreGuardOptions;
  #owner: { readonly owner: StoreOwner; readonly at: number } | undefined;
  #reported: StoreOwner["kind"] | undefined;

  constructor(options: StoreGuardOptions) {
    this.#options = options;
    this.data = new DeploymentGuard({
      activity: "deletion of stored files",
      heldGauge: dataHeldGauge,
      readOwnership: () => this.#readOwnership(),
      logger: options.logger,
    });
  }

  /** Marks a new store, and records a restore that it notices. */
  async read(): Promise<StoreState> {
    const { store } = this.#options;
    if (!(await this.data.isOwn()))
      return { kind: "foreign_data", reason: this.data.heldBecause ?? "deployment" };
    // Read before the database, because a pass is counted in the database first: otherwise the pass
    // of another replica in between would look like a restore.
    const marker = await readMarker(store);
    const state = await this.#getDeployment();
    const owner = await this.#findOwner(marker, state);
    this.#report(owner);
    this.#owner = { owner, at: performance.now() };
    const pass = owner.kind === "own" && typeof marker === "object" ? marker.pass : 0;
    if (!state.isMoved && pass <= state.storePass)
      return { kind: "own_data", keptUntil: state.keptUntil, owner };
    await this.#recordRestore(state.isMoved ? "the database" : "the marker", pass);
    return { kind: "own_data", keptUntil: (await this.#getDeployment()).keptUntil, owner };
  }

  /**
   * For files that the database names. An unmarked store permits it: no other deployment has
   * claimed it, and the names are unique.
   */
  async mayDelete(): Promise<boolean> {
    if (await this.data.isHeld()) return false;
    const owner = await this.#recentOwner();
    return owner !== undefined && permits(owner);
  }

  /**
   * @throws `unavailable` in the store of another deployment, which deletes files that its database
   *   does not name, and in one that lacks its files. A copy may store files: its posts wait.
   */
  async assertKeepsFiles(): Promise<void> {
    if (await this.data.isHeld()) return;
    const owner = await this.#recentOwner().catch((error: unknown) => {
      throw unavailable(error);
    });
    if (owner?.kind === "foreign" || owner?.kind === "files_missing") throw unavailable();
  }

  /** Whether a file that the database names may be missing because the store is another one. */
  async lacksFiles({ isRecentEnough }: { readonly isRecentEnough: boolean }): Promise<boolean> {
    if (await this.data.isHeld()) return false;
    if (isRecentEnough) return (await this.#recentOwner())?.kind === "files_missing";
    const state = await this.read();
    return state.kind === "own_data" && state.owner.kind === "files_missing";
  }

  /** Undefined while the data belongs to another deployment. */
  async #recentOwner(): Promise<StoreOwner | undefined> {
    const known = this.#owner;
    if (known !== undefined && performance.now() - known.at < MARKER_MS) return known.owner;
    const state = await this.read();
    return state.kind === "own_data" ? state.owner : undefined;
  }

  /** For what depends on rows that a restore may have lost. */
  async mayForget(): Promise<boolean> {
    const state = await this.read();
    return state.kind === "own_data" && state.keptUntil === null && permits(state.owner);
  }

  /** For files that the database does not name. */
  async mayCleanUp(): Promise<boolean> {
    const state = await this.read();
    return state.kind === "own_data" && state.keptUntil === null && state.owner.kind === "own";
  }

  /**
   * Counts a pass of remove-orphans in the database and then in the marker. Data that is restored
   * to a moment before the pass has a lower number than the marker.
   */
  async countPass(): Promise<void> {
    const { sql, store, deploymentId } = this.#options;
    const state = await this.read();
    if (state.kind !== "own_data" || state.owner.kind !== "own") return;
    const pass = await countStorePass(sql, deploymentId);
    if (pass === undefined) return;
    const { current } = await this.#getDeployment();
    await writeMarker(store, { ...current, pass });
  }

  /**
   * Returns false when the store belonged to this deployment already.
   *
   * @throws `invalid_transition` while the data belongs to another one.
   */
  async adoptStore(): Promise<boolean> {
    const { store } = this.#options;
    const state = await this.read();
    if (state.kind === "foreign_data") throw conflict("invalid_transition");
    if (state.owner.kind === "own") return false;
    // Recorded first: files that only the earlier owner knows are kept for a day.
    await this.#recordRestore("the object store", 0);
    const { current, storePass } = await this.#getDeployment();
    await writeMarker(store, { ...current, pass: storePass });
    await this.read();
    return true;
  }

  async #readOwnership(): Promise<Ownership> {
    const { sql, deploymentId } = this.#options;
    const found = await findDeployment(sql, deploymentId);
    if (found !== undefined) return compareDeployments(found.stored, found.current);
    await insertDeployment(sql, deploymentId);
    return { kind: "own" };
  }

  async #getDeployment(): Promise<DeploymentState> {
    const { sql, deploymentId } = this.#options;
    const found = await findDeployment(sql, deploymentId);
    if (found === undefined) throw unavailable();
    return found;
  }

  async #findOwner(
    marker: Awaited<ReturnType<typeof readMarker>>,
    state: DeploymentState,
  ): Promise<StoreOwner> {
    const { store, sql } = this.#options;
    const { current, ownedSince, storePass } = state;
    if (marker !== undefined) return ownerOf(marker, current);
    const keys = await listStoredKeys(sql, SAMPLED_FILES);
    if ((keys.length > 0 || storePass > 0) && !(await hasAny(store, keys))) {
      // Another replica may have marked a new store meanwhile.
      const latest = await readMarker(store);
      return latest === undefined ? { kind: "files_missing" } : ownerOf(latest, current);
    }
    const before = storePass > 0 ? new Date(Date.now() + MARKER_MS) : ownedSince;
    if (await hasFiles(store, before)) return { kind: "unmarked" };
    await writeMarker(store, { ...current, pass: storePass });
    return { kind: "own" };
  }

  async #recordRestore(shownBy: string, storePass: number): Promise<void> {
    const { sql, deploymentId, logger } = this.#options;
    await recordRestore(sql, deploymentId, storePass);
    logger.warn(
      { shownBy },
      "the database or the object store was replaced; stored files that no row in the database references are kept for a day",
    );
  }

  #report(owner: StoreOwner): void {
    storeHeldGauge.set(owner.kind === "own" ? 0 : 1);
    if (owner.kind === this.#reported) return;
    this.#reported = owner.kind;
    const belongsTo = owner.kind === "foreign" ? owner.marker.deploymentId : undefined;
    if (owner.kind !== "own")
      this.#options.logger.error({ reason: owner.kind, belongsTo }, describeHold(owner));
  }
}

async function hasAny(store: ObjectStore, keys: readonly string[]): Promise<boolean> {
  const found = await Promise.all(keys.map((key) => store.stat(key)));
  return found.some((file) => file !== undefined);
}

async function hasFiles(store: ObjectStore, before: Date): Promise<boolean> {
  for (const prefix of OBJECT_PREFIXES)
    for await (const key of store.list(prefix, before)) return key !== "";
  return false;
}
