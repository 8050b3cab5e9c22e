import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import { findHold, type HoldReason } from "#src/db/deployment.ts";

/** What the job is built from. */
export interface WatchDeploymentDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly deploymentId: string;
}

const WATCH_MS = 5_000;

const heldGauge = createGauge(
  "accounts_tokens_held",
  "1 while no token is renewed or given back because the data belongs to another database or deployment.",
);

/** Tells operators that the data is a copy; what holds the tokens is in the statements that claim them. */
export function startWatchDeployment({ sql, logger, deploymentId }: WatchDeploymentDeps): Loop {
  let said: HoldReason | undefined;
  return startLoop({
    idleMs: WATCH_MS,
    work: async () => {
      const reason = (await findHold(sql, deploymentId)) ?? undefined;
      heldGauge.set(reason === undefined ? 0 : 1);
      if (reason === said) return false;
      said = reason;
      if (reason === undefined) logger.warn("tokens are renewed again: the data belongs here");
      else
        logger.error(
          { reason },
          "no token is renewed: the data belongs to another database or deployment; postrider recovery adopt takes it over",
        );
      return false;
    },
    onError: (error) => logger.warn({ err: error }, "the data's origin could not be looked up"),
  });
}
