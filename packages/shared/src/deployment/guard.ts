import { startLoop, type Loop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import type { createGauge } from "#src/telemetry/metrics.ts";
import type { ForeignReason, Ownership } from "./ownership.ts";

const WATCH_MS = 5_000;
/** How long, in milliseconds, `isHeld` uses what was last read from the database. */
const RECENT_MS = 1_000;

export interface DeploymentGuardOptions {
  /**
   * The activity that is stopped while the data belongs to another deployment. It is the subject of log lines, for
   * example "publishing".
   */
  readonly activity: string;
  /** The gauge that is 1 while this deployment guard stops the activity, otherwise 0. */
  readonly heldGauge: ReturnType<typeof createGauge>;
  /**
   * Reads from the database whether its data belongs to this deployment. It is called again before each use of the
   * result, because the database can be replaced while the process runs.
   */
  readonly readOwnership: () => Promise<Ownership>;
  readonly logger: Logger;
}

/**
 * Stops an activity, such as publishing, while the data belongs to another deployment, as in a copy of a database. The
 * guard sets a gauge, and logs one line when the activity stops and one when it resumes.
 */
export class DeploymentGuard {
  readonly #options: DeploymentGuardOptions;
  #reported: ForeignReason | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: DeploymentGuardOptions) {
    this.#options = options;
  }

  /** Whether the data belongs to this deployment at the moment, so that the process may act on it. */
  async isOwn(): Promise<boolean> {
    const ownership = await this.#options.readOwnership();
    this.#report(ownership.kind === "foreign" ? ownership.reason : undefined);
    this.#readAt = performance.now();
    return ownership.kind === "own";
  }

  /**
   * Whether the data belongs to another deployment, by what was read within the last second. For loops that run many times
   * per second. Data that was restored in its own deployment is not held.
   */
  async isHeld(): Promise<boolean> {
    if (performance.now() - this.#readAt >= RECENT_MS) await this.isOwn();
    return this.#reported !== undefined;
  }

  /** Why the activity was stopped when the guard last read the ownership; undefined when it was not stopped. */
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

/** Describes for `/readyz` why a guard stops its activity; undefined when it does not stop it. */
export function describeHold({
  heldBecause,
}: Pick<DeploymentGuard, "heldBecause">): string | undefined {
  return heldBecause === undefined
    ? undefined
    : `held: the data belongs to another ${heldBecause.replaceAll("_", " ")}`;
}

/**
 * Asks the deployment guard every 5 s until disposed of, so that a copy of the data is reported even while there is no
 * work.
 *
 * @param onOwn Called each time the data proves to belong to this deployment.
 */
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
