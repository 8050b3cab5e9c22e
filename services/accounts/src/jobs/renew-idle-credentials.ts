import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { claimLapsing, type LapsingCredential } from "#src/db/credentials.ts";

/** What the job is built from. */
export interface RenewIdleDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly deploymentId: string;
  /** Asks the platform and writes what it gave; never throws for what the platform does. */
  readonly refresh: (credential: LapsingCredential) => Promise<unknown>;
}

const BATCH = 20;
const EVERY_MS = 60_000;

/**
 * Renews one batch of the tokens whose time has come, one after the other: there are weeks left, and the platform is to
 * notice nothing. Returns whether there may be more.
 */
export async function renewIdleBatch({
  sql,
  logger,
  deploymentId,
  refresh,
}: RenewIdleDeps): Promise<boolean> {
  const claimed = await claimLapsing(sql, { limit: BATCH, deploymentId });
  for (const credential of claimed) {
    const { accountId, platform } = credential;
    try {
      await refresh(credential);
    } catch (error) {
      // The claim has put it off by an hour, and half of its life is left.
      logger.warn({ err: error, accountId, platform }, "an idle credential was not renewed");
    }
  }
  return claimed.length === BATCH;
}

/**
 * Keeps accounts connected that nobody publishes to: their tokens would lapse for good (60 days on instagram, 90 on
 * bluesky). Any number of replicas may run it.
 */
export function startRenewingIdle(deps: RenewIdleDeps): Loop {
  return startLoop({
    idleMs: EVERY_MS,
    work: () => renewIdleBatch(deps),
    onError: (error) => deps.logger.error({ err: error }, "renewing idle credentials failed"),
  });
}
