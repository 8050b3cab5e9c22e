import type { Sql } from "@postrider/shared/postgres";
import { causeOf } from "@postrider/shared/telemetry/cause";
import { decideInOrder } from "#src/calls/decide-in-order.ts";
import { forgetDoubts, listTrustedDoubts } from "#src/publishing/db/trusted-restores.ts";
import { TASKS } from "#src/publishing/domain/task.ts";
import { lockTargets, writeDecisions } from "./write-decisions.ts";

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
