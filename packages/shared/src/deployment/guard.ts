import { startLoop, type Loop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import type { createGauge } from "#src/telemetry/metrics.ts";
import type { ForeignReason, Ownership } from "./ownership.ts";

const WATCH_MS = 10_000;
/** How long `isHeld` uses what was last read. */
const RECENT_MS = 1_000;

export interface DeploymentGuardOptions {
  /** The subject of log lines, for example "publishing". */
  readonly activity: string;
  /** 1 while this guard stops the activity. */
  readonly heldGauge: ReturnType<typeof createGauge>;
  /** Called again before each use, because the database can be replaced while the process runs. */
  readonly readOwnership: () => Promise<Ownership>;
  readonly logger: Logger;
}

/** Stops an activity while the data belongs to another deployment, as in a copy. */
export class DeploymentGuard {
  readonly #options: DeploymentGuardOptions;
  #reported: ForeignReason | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: DeploymentGuardOptions) {
    this.#options = options;
  }

  /** Whether the process may act on the data. False after a restore, too, until it is recorded. */
  async isOwn(): Promise<boolean> {
    const ownership = await this.#options.readOwnership();
    this.#report(ownership.kind === "foreign" ? ownership.reason : undefined);
    this.#readAt = performance.now();
    return ownership.kind === "own";
  }

  /** Decides by a read of the last second. Data restored in its own deployment is not held. */
  async isHeld(): Promise<boolean> {
    if (performance.now() - this.#readAt >= RECENT_MS) await this.isOwn();
    return this.#reported !== undefined;
  }

  get heldBecause(): ForeignReason | undefined {
    return this.#reported;
  }

  #report(reason: ForeignReason | undefined): void {
    const { activity, heldGauge, logger } = this.#options;
    heldGauge.set(reason === undefined ? 0 : 1);
    if (reason === this.#reported) return;
    this.#reported = reason;
    if (reason === undefined)
      logger.warn(
        `${activity} resumes, because the data in the database belongs to this deployment`,
      );
    else
      logger.error(
        { reason },
        `${activity} is stopped, because the data in this database belongs to another deployment or is a copy from another database; to use the data in this deployment, run \`postrider recovery adopt\``,
      );
  }
}

/** For `/readyz`; undefined when the guard does not stop its activity. */
export function describeHold({
  heldBecause,
}: Pick<DeploymentGuard, "heldBecause">): string | undefined {
  return heldBecause === undefined
    ? undefined
    : `held: the data belongs to another ${heldBecause.replaceAll("_", " ")}`;
}

/** So a copy is reported even while there is no work. `onOwn`: called while the data is our own. */
export function startDeploymentWatch(
  guard: DeploymentGuard,
  logger: Logger,
  onOwn: () => Promise<void> = () => Promise.resolve(),
): Loop {
  return startLoop({
    idleMs: WATCH_MS,
    work: async () => {
      if (await guard.isOwn()) await onOwn();
      return false;
    },
    onError: (error) =>
      logger.warn(
        { err: error },
        "the database could not be asked which deployment its data belongs to; the next check asks again",
      ),
  });
}
