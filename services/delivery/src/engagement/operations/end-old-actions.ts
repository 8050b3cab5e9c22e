import { endOldVisibility } from "#src/engagement/db/restore-doubts.ts";
import { countEnd } from "./action-metrics.ts";
import { appendEnds } from "./append-ends.ts";
import type { EngagementDeps } from "./dependencies.ts";

/** Ends the actions from before a restore from a backup that must no longer be carried out, and stores the events about it. */
export async function endOldActions({
  sql,
  onEvents,
}: Pick<EngagementDeps, "sql" | "onEvents">): Promise<void> {
  const ended = await sql.begin(async (tx) => {
    const old = await endOldVisibility(tx);
    await appendEnds(tx, old);
    return old;
  });
  if (ended.length > 0) onEvents();
  for (const action of ended) countEnd(action);
}
