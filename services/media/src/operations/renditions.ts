import { setTimeout as sleep } from "node:timers/promises";
import { unavailable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { transferShares } from "@postrider/shared/limits/transfer-shares";
import { failpoint } from "@postrider/shared/process/failpoints";
import { findMedia } from "#src/db/media.ts";
import {
  claimRenditions,
  listRenditions,
  releaseRenditions,
  renewRenditions,
} from "#src/db/renditions.ts";
import {
  describePlan,
  type RenditionPlan,
  type StoredRendition,
  toStoredRenditions,
} from "#src/domain/rendition-plan.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import { holdLease, within } from "./long-work.ts";
import { makeRenditions, type MakingDependencies } from "./make-renditions.ts";

/** Media of which this process makes renditions at the same time. */
const RENDER_LIMITS = { total: 4, maxWaiting: 500, maxWaitingPerShare: 60 };
const POLL_INTERVAL_MS = 200;

export interface RenditionOptions extends MakingDependencies {
  /** How long after its last renewal a lease protects the renditions. */
  readonly leaseMs: number;
}

type Outcome = "settled" | "busy" | "unavailable";
/** Keys are the texts of plans. */
export type RenditionsByPlan = ReadonlyMap<string, StoredRendition>;

/**
 * Makes renditions under a lease, which expires when this process dies. The work continues after
 * the request has timed out, so that the next request finds its result.
 */
export class Renditions implements AsyncDisposable {
  readonly #options: RenditionOptions;
  readonly #running = new Set<Promise<Outcome>>();
  readonly #permits = new Semaphore(RENDER_LIMITS);
  readonly #stopping = new AbortController();

  constructor(options: RenditionOptions) {
    this.#options = options;
  }

  /**
   * Returns the renditions of ready media; one is absent when the media were deleted meanwhile.
   *
   * @throws `unavailable` when they are not made by `endsAt` (of `performance.now`), or cannot be
   *   made now.
   */
  async prepare(
    media: StoredMedia,
    plans: readonly RenditionPlan[],
    endsAt: number,
  ): Promise<RenditionsByPlan> {
    const { sql } = this.#options;
    const byText = new Map(plans.map((plan) => [describePlan(plan), plan]));
    const { workspaceId, id: mediaId } = media;
    const wanted = { workspaceId, mediaId, plans: [...byText.keys()] };
    for (;;) {
      const found = toStoredRenditions(await listRenditions(sql, wanted));
      const missing = [...byText].filter(([text]) => !found.has(text)).map(([, plan]) => plan);
      if (missing.length === 0) return found;
      const outcome = await within(this.#start(media, missing), endsAt - performance.now());
      if (outcome === "unavailable" || performance.now() >= endsAt) throw unavailable();
      if (outcome !== "busy") continue;
      if ((await findMedia(sql, workspaceId, mediaId))?.status !== "ready") return found;
      await sleep(POLL_INTERVAL_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  #start(media: StoredMedia, plans: readonly RenditionPlan[]): Promise<Outcome> {
    if (this.#stopping.signal.aborted) return Promise.resolve("unavailable");
    const started = this.#waitAndMake(media, plans);
    this.#running.add(started);
    void started.then(() => this.#running.delete(started));
    return started;
  }

  async #waitAndMake(media: StoredMedia, plans: readonly RenditionPlan[]): Promise<Outcome> {
    const { workspaceId } = media;
    const { signal } = this.#stopping;
    const shares = transferShares({ workspaceId });
    // `acquire` fails only when too many renditions wait or the process stops.
    using permit = await this.#permits.acquire({ shares, signal }).catch(() => undefined);
    if (permit === undefined) return "unavailable";
    try {
      return await this.#claimAndMake(media, plans);
    } catch (error) {
      this.#options.logger.warn(
        { err: error, workspaceId, step: "render" },
        "the renditions of an image could not be made; the next request for these renditions tries again",
      );
      return "unavailable";
    }
  }

  async #claimAndMake(media: StoredMedia, plans: readonly RenditionPlan[]): Promise<Outcome> {
    const { sql, leaseMs } = this.#options;
    const lease = { workspaceId: media.workspaceId, mediaId: media.id, token: newId() };
    const wanted = plans.map((plan) => ({ id: newId(), plan: describePlan(plan) }));
    const claimed = await claimRenditions(sql, lease, wanted, leaseMs);
    if (claimed.length === 0) return "busy";
    await using held = holdLease({
      leaseMs,
      renew: () => renewRenditions(sql, lease, leaseMs),
      release: () => releaseRenditions(sql, lease),
    });
    failpoint("media.renditions-claimed");
    const mine = plans.filter((plan) => claimed.includes(describePlan(plan)));
    const signal = AbortSignal.any([this.#stopping.signal, held.signal]);
    return await makeRenditions(this.#options, { media, lease, plans: mine, signal });
  }
}
