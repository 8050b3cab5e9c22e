import type { ISql } from "@postrider/shared/postgres";
import { isUnheld } from "./queue-schedule.ts";

const MAX_COUNT = 100_000;
/** Failed polls in a row. */
const FAILING_AFTER = 3;

interface AutomationCounts {
  /** Runs whose private reply waits, up to 100,000. */
  readonly waiting: number;
  readonly oldestWaitingAt: Date | null;
  readonly due: number;
  readonly oldestDueAt: Date | null;
  /** Accounts by platform. */
  readonly failing: Readonly<Record<string, number>>;
}

export async function countAutomations(sql: ISql): Promise<AutomationCounts> {
  const [row] = await sql<AutomationCounts[]>`
    with waiting as materialized (
      select created_at
      from automation_runs
      where status = 'prepared'
      and reason is null
      limit ${MAX_COUNT}
    ),
    due as materialized (
      select poll_at
      from automation_accounts
      where poll_at <= now()
      and lease_until <= now()
      and ${isUnheld(sql)}
    ),
    failing as (
      select platform, count(*)::int as accounts
      from automation_accounts
      where poll_at < 'infinity'
      and failures >= ${FAILING_AFTER}
      group by platform
    )
    select
      (select count(*)::int from waiting) as waiting,
      (select min(created_at) from waiting) as oldest_waiting_at,
      (select count(*)::int from due) as due,
      (select min(poll_at) from due) as oldest_due_at,
      coalesce((select jsonb_object_agg(platform, accounts) from failing), '{}') as failing`;
  if (row === undefined) throw new Error("automations could not be counted");
  return row;
}
