import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import {
  findDeployment,
  insertDeployment,
  noteRestore,
  touchDeployment,
} from "#src/publishing/db/deployment.ts";
import { judgeOrigin, type Judgement } from "#src/publishing/domain/origin.ts";

export interface OriginOptions {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly deploymentId: string;
}

const WATCH_MS = 5_000;

const heldGauge = createGauge(
  "delivery_publishing_held",
  "1 while nothing is published or deleted because the data belongs to another database or deployment.",
);

/**
 * Knows whether this process may publish from its data. A database can be replaced under a running process, so it is asked
 * before each claim.
 */
export class OriginGuard {
  readonly #options: OriginOptions;
  #rememberedAt: Date | undefined;
  #said: string | undefined;

  constructor(options: OriginOptions) {
    this.#options = options;
  }

  /** False while the data belongs elsewhere. A restore that is noticed is written down first. */
  async mayPublish(): Promise<boolean> {
    const judgement = await this.#judge();
    this.#tell(judgement);
    return judgement.kind === "ours";
  }

  /** Each judgement can follow from what the one before has written; a third one is another process's. */
  async #judge(): Promise<Judgement> {
    const { sql, logger, deploymentId } = this.#options;
    const found = await findDeployment(sql);
    if (found === undefined) {
      await insertDeployment(sql, deploymentId);
      return { kind: "ours" };
    }
    const { stored, place } = found;
    const judgement = judgeOrigin(stored, place, {
      deploymentId,
      rememberedAt: this.#rememberedAt,
    });
    if (judgement.kind === "restored") {
      const { reason } = judgement;
      logger.warn(
        { reason },
        "the data was restored: what was due is looked for before it is sent",
      );
      await noteRestore(sql, deploymentId, this.#rememberedAt);
      // What is remembered belongs to data that is gone.
      this.#rememberedAt = undefined;
    } else if (judgement.kind === "ours") this.#rememberedAt = stored.seenAt;
    return judgement;
  }

  #tell(judgement: Judgement): void {
    const isForeign = judgement.kind === "foreign";
    heldGauge.set(isForeign ? 1 : 0);
    const said = isForeign ? judgement.reason : undefined;
    if (said === this.#said) return;
    this.#said = said;
    const { logger } = this.#options;
    if (said === undefined) logger.warn("publishing goes on: the data belongs here");
    else
      logger.error(
        { reason: said },
        "publishing is held: the data belongs to another database or deployment; postrider recovery adopt takes it over",
      );
  }

  /** Notes that the data is in use, from which a restore is seen later. */
  async touch(): Promise<void> {
    if (await this.mayPublish()) await touchDeployment(this.#options.sql);
  }
}

/** Looks at the data's origin also while there is nothing to publish, until disposed of. */
export function startWatchOrigin(origin: OriginGuard, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: WATCH_MS,
    work: async () => {
      await origin.touch();
      return false;
    },
    onError: (error) => logger.warn({ err: error }, "the data's origin could not be looked up"),
  });
}
