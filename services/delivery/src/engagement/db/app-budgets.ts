import type { AppBudget } from "@postrider/platforms/comments/connector";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { NO_WORKSPACE } from "#src/engagement/db/metrics-turns.ts";
import type { Charged } from "#src/engagement/domain/call-budget.ts";

/** The budget of our app at a platform, and the workspace that uses it. */
export interface BudgetUse {
  readonly platform: string;
  readonly workspaceId: string;
  readonly budget: AppBudget;
}

const MAX_DELETED = 100;

/** The last reset by the platform, or the next one; null if it never gives back all units. */
function resetAt(sql: ISql, budget: AppBudget, which: "last" | "next") {
  const resetsIn = budget.resetsIn ?? null;
  const days = which === "last" ? 0 : 1;
  return sql`
    (
      (date_trunc('day', now() at time zone ${resetsIn}::text) + ${days}::int * interval '1 day')
      at time zone ${resetsIn}::text
    )`;
}

function leftMs(sql: ISql, budget: AppBudget) {
  return sql`
    case
      when taken_at < ${resetAt(sql, budget, "last")} then 0
      else greatest(0, extract(epoch from budget_until - now()) * 1000)
    end::float8`;
}

/** Locks the budget, so that all processes take its units one after the other. */
export async function lockBudget(
  tx: TransactionSql,
  { platform, workspaceId, budget }: BudgetUse,
): Promise<Charged> {
  const { name } = budget;
  const locked = tx`
    insert into app_budgets (platform, name)
    values (${platform}, ${name})
    on conflict (platform, name) do update
    set name = excluded.name`;
  // Sent together and executed in order: this sees what the transactions before this one have
  // written.
  const charged = tx<[Charged]>`
    select (
        select ${leftMs(tx, budget)}
        from app_budgets
        where platform = ${platform}
        and name = ${name}
      ) as app_ms,
      coalesce(max(own.ms) filter (where own.workspace_id = ${workspaceId}), 0) as own_ms,
      count(*) filter (where own.workspace_id <> ${workspaceId} and own.ms > 0)::int as others,
      (extract(epoch from ${resetAt(tx, budget, "next")} - now()) * 1000)::float8 as reset_ms
    from (
      select workspace_id, ${leftMs(tx, budget)} as ms
      from app_budget_shares
      where platform = ${platform}
      and name = ${name}
    ) as own`;
  const [, [row]] = await Promise.all([locked, charged]);
  return row;
}

/** The budget must be locked. One statement, because other workspaces wait for its end. */
export async function storeCharged(
  tx: TransactionSql,
  { platform, workspaceId, budget: { name } }: BudgetUse,
  { appMs, ownMs }: Pick<Charged, "appMs" | "ownMs">,
): Promise<void> {
  await tx`
    with app as (
      update app_budgets
      set budget_until = now() + ${appMs}::float8 * interval '1 millisecond',
        taken_at = now()
      where platform = ${platform}
      and name = ${name}
    ),
    ended as (
      delete from app_budget_shares
      where (platform, name, workspace_id) in (
        select platform, name, workspace_id
        from app_budget_shares
        where platform = ${platform}
        and name = ${name}
        and workspace_id not in (${workspaceId}, ${NO_WORKSPACE})
        and budget_until <= now()
        limit ${MAX_DELETED}
      )
    )
    insert into app_budget_shares as s (platform, name, workspace_id, budget_until)
    values (${platform}, ${name}, ${workspaceId}, now() + ${ownMs}::float8 * interval '1 millisecond')
    on conflict (platform, name, workspace_id) do update
    set budget_until = excluded.budget_until,
      taken_at = now()`;
}

/** One row per platform: the limits and budgets that all accounts of our app share. */
export async function insertApps(sql: ISql, platforms: readonly string[]): Promise<void> {
  if (platforms.length === 0) return;
  await sql`
    insert into app_budgets (platform, name)
    select unnest(${[...platforms]}::text[]), 'metrics'
    on conflict (platform, name) do nothing`;
}
