import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import { countAccounts } from "#src/db/accounts.ts";

const COUNT_INTERVAL_MS = 60_000;
const STATUSES = ["active", "reconnect_required"];

const accounts = createGauge(
  "accounts_connected",
  "Connected accounts, by whether they can publish or need a reconnect.",
  ["platform", "status"],
);

async function updateGauge(sql: Sql): Promise<void> {
  const counts = await countAccounts(sql, STATUSES);
  for (const platform of PLATFORM_IDS)
    for (const status of STATUSES) {
      const found = counts.find((each) => each.platform === platform && each.status === status);
      accounts.set({ platform, status }, found?.count ?? 0);
    }
}

/** Every replica reports the same numbers, because all replicas share the database. */
export function startCountAccounts(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: COUNT_INTERVAL_MS,
    work: async () => {
      await updateGauge(sql);
      return COUNT_INTERVAL_MS;
    },
    onError: (error) =>
      logger.debug(
        { err: error },
        "connected accounts could not be counted for the metric; the next run of the job counts them again",
      ),
  });
}
