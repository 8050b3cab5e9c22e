import type { ISql } from "@postrider/shared/postgres";
import { takeLocked } from "#src/calls/table.ts";
import type { ClaimedTask, HeldKey } from "#src/publishing/domain/task.ts";
import { isDoubtful } from "./deployment.ts";
import { TASK_TABLE } from "./task-table.ts";

/** For this long after `publish_before`, only a process with the connector may search. */
const SEARCH_MINUTES = 60;

/** A publish task that this process has leased only to end it. */
export interface UnsupportedTask extends HeldKey {
  readonly attemptNumber: number;
  readonly cause: ClaimedTask["cause"];
}

/**
 * Too late to publish, on platforms without a connector: requested from a newer version, before a
 * return to this one. No other claim takes them; what a newer process holds is left to it.
 */
export async function claimUnsupportedTasks(
  sql: ISql,
  options: {
    readonly owner: string;
    readonly platforms: readonly string[];
    readonly leaseMs: number;
    readonly limit: number;
  },
): Promise<readonly UnsupportedTask[]> {
  const { platforms, limit } = options;
  // Several processes end different tasks at once, because locked tasks are skipped.
  return await sql<UnsupportedTask[]>`
    with taken as (
      select t.target_id, t.generation
      from account_queues q
      join publish_tasks t on t.account_id = q.account_id
      cross join deployment d
      where q.platform <> all(${platforms as string[]}::text[])
      and least(q.publish_at, q.look_at) <= now()
      and t.status in ('queued', 'working', 'unknown', 'reconciling')
      and t.wake_at <= now()
      and t.publish_before <= now() - case
        when t.status in ('unknown', 'reconciling') then ${SEARCH_MINUTES} * interval '1 minute'
        else interval '0'
      end
      -- Such a task may have been published, so it first gets an unknown outcome.
      and not ${isDoubtful(sql)}
      limit ${limit}
      for update of t skip locked
    )
    ${takeLocked(sql, TASK_TABLE, options)}
    returning t.target_id, t.generation, t.fence, t.attempt_number, t.cause`;
}
