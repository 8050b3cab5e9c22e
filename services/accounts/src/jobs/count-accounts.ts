import { PLATFORM_IDS } from "@postrider/platforms/registry";
import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import { countAccounts } from "#src/db/account-counts.ts";

const EVERY_MS = 60_000;
const STATUSES = ["active", "reconnect_required"];

const accounts = createGauge(
  "accounts_connected",
  "Accounts that are connected, by whether they can be published to or want a new approval.",
  ["platform", "status"],
);

async function count(sql: Sql): Promise<void> {
  const found = await countAccounts(sql, STATUSES);
  for (const platform of PLATFORM_IDS) {
    for (const status of STATUSES) {
      const of = found.find((each) => each.platform === platform && each.status === status);
      accounts.set({ platform, status }, of?.count ?? 0);
    }
  }
}

/** Counts accounts until disposed of. Every process tells the same, because the accounts are everybody's. */
export function startCountAccounts(sql: Sql, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      await count(sql);
      return EVERY_MS;
    },
    onError: (error) => logger.debug({ err: error }, "accounts were not counted"),
  });
}
