import type { AppBudget } from "@postrider/platforms/comments/connector";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { Charged } from "#src/engagement/domain/call-budget.ts";

/** The budget of our app at a platform, and the workspace that uses it. */
export interface BudgetUse {
  readonly platform: string;
  readonly workspaceId: string;
  readonly budget: AppBudget;
}

const MAX_DELETED = 100;

/** Units used before this instant count no longer; null if the platform never gives back all. */
function lastReset(sql: ISql, budget: AppBudget) {
  const resetsIn = budget.resetsIn ?? null;
  return sql`date_trunc('day', now() at time zone ${resetsIn}::text) at time zone ${resetsIn}::text`;
}

function leftMs(sql: ISql, budget: AppBudget) {
  return sql`
    case
      when taken_at < ${lastReset(sql, budget)} then 0
      else greatest(0, extract(epoch from budget_until - now()) * 1000)
    end::float8`;
}

/** Locks the budget, so that all processes take its units one after the other. */
export async function lockBudget(
  tx: TransactionSql,
  { platform, workspaceId, budget }: BudgetUse,
): Promise<Charged> {
  const { name } = budget;
  const resetsIn = budget.resetsIn ?? null;
  await tx`
    insert into app_budgets (platform, name)
    values (${platform}, ${name})
    on conflict (platform, name) do update
    set name = excluded.name`;
  // The next statement sees what the transactions before this one have written.
  const [row] = await tx<[Charged]>`
    select (
        select ${leftMs(tx, budget)}
        from app_budgets
        where platform = ${platform}
        and name = ${name}
      ) as app_ms,
      coalesce(max(own.ms) filter (where own.workspace_id = ${workspaceId}), 0) as own_ms,
      count(*) filter (where own.workspace_id <> ${workspaceId} and own.ms > 0)::int as others,
      (
        extract(epoch from (
          date_trunc('day', now() at time zone ${resetsIn}::text) + interval '1 day'
        ) at time zone ${resetsIn}::text - now()) * 1000
      )::float8 as reset_ms
    from (
      select workspace_id, ${leftMs(tx, budget)} as ms
      from app_budget_shares
      where platform = ${platform}
      and name = ${name}
    ) as own`;
  return row;
}

/** The budget must be locked. */
export async function storeCharged(
  tx: TransactionSql,
  { platform, workspaceId, budget: { name } }: BudgetUse,
  { appMs, ownMs }: Pick<Charged, "appMs" | "ownMs">,
): Promise<void> {
  await tx`
    update app_budgets
    set budget_until = now() + ${appMs}::float8 * interval '1 millisecond',
      taken_at = now()
    where platform = ${platform}
    and name = ${name}`;
  await tx`
    insert into app_budget_shares as s (platform, name, workspace_id, budget_until)
    values (${platform}, ${name}, ${workspaceId}, now() + ${ownMs}::float8 * interval '1 millisecond')
    on conflict (platform, name, workspace_id) do update
    set budget_until = excluded.budget_until,
      taken_at = now()`;
  await tx`
    delete from app_budget_shares
    where (platform, name, workspace_id) in (
      select platform, name, workspace_id
      from app_budget_shares
      where platform = ${platform}
      and name = ${name}
      and budget_until <= now()
      limit ${MAX_DELETED}
    )`;
}
