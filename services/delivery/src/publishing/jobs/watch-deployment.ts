import { type DeploymentGuard, startDeploymentWatch } from "@postrider/shared/deployment/guard";
import type { Sql } from "@postrider/shared/postgres";
import { causeOf } from "@postrider/shared/telemetry/cause";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { decideInOrder } from "#src/calls/decide-in-order.ts";
import { touchDeployment } from "#src/publishing/db/deployment.ts";
import { forgetDoubts, listTrustedDoubts } from "#src/publishing/db/trusted-restores.ts";
import { TASKS } from "#src/publishing/domain/task.ts";
import { lockTargets, writeDecisions } from "#src/publishing/operations/write-decisions.ts";

const BATCH = 100;

interface ReleaseOptions {
  readonly sql: Sql;
  readonly onEvents: () => void;
}

/**
 * Tasks that only the trusted restore made uncertain are sent without a search. Each batch is one
 * transaction: the next run corrects what a stopped one left. Several processes can run it at once.
 */
export async function releaseTrustedDoubts({ sql, onEvents }: ReleaseOptions): Promise<void> {
  for (;;) {
    const found = await listTrustedDoubts(sql, { limit: BATCH });
    if (found.length === 0) return;
    const targetIds = [...new Set(found.map(({ targetId }) => targetId))];
    const count = await sql.begin(async (tx) => {
      const locked = await lockTargets(
        tx,
        targetIds.map((targetId) => ({ targetId, number: 0 })),
      );
      // The tasks are listed again after they are locked, because another process may have
      // corrected them in the meantime.
      const doubts = await listTrustedDoubts(tx, { limit: BATCH, targetIds });
      const causes = new Map(doubts.map(({ targetId, cause }) => [targetId, causeOf(cause ?? {})]));
      const events = doubts.map(({ targetId, generation, firstCalledAt }) => ({
        targetId,
        generation,
        attemptNumber: 0,
        kind: "trusted" as const,
        firstCalledAt,
      }));
      const decisions = decideInOrder(TASKS, locked, events);
      const updates = await writeDecisions(tx, [...decisions.values()], causes);
      if (doubts.length > 0) await forgetDoubts(tx, doubts);
      return updates.length;
    });
    if (count > 0) onEvents();
  }
}

/**
 * Records regularly that the database is in use, so that a restore from a backup can be detected
 * later. While the data belongs to another deployment of Postrider, it logs that and reports it in
 * a metric. Corrects the targets whose outcome is uncertain because of a restore that an operator
 * later declared lossless.
 */
export function startWatchDeployment(options: {
  readonly guard: DeploymentGuard;
  readonly sql: Sql;
  readonly logger: Logger;
  readonly onEvents: () => void;
}): AsyncDisposable {
  const { guard, sql, logger } = options;
  return startDeploymentWatch(guard, logger, async () => {
    await touchDeployment(sql);
    await releaseTrustedDoubts(options);
  });
}
