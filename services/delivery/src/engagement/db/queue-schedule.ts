import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/** For ready actions that wait for something with no known end, such as another action. */
const RECHECK_SECONDS = 1;
const PAUSED_RECHECK_SECONDS = 10;

export function recheckAt(sql: ISql) {
  return sql`now() + ${RECHECK_SECONDS}::float8 * interval '1 second'`;
}

/** SQL condition: the platform, account or workspace of queue `q` is paused. */
export function isPaused(sql: ISql) {
  return sql`
    ((kind = 'platform' and key = q.platform)
      or (kind = 'account' and key = q.account_id::text)
      or (kind in ('workspace', 'deletion', 'move') and key = q.workspace_id::text))`;
}

/** Until when the platform limits the polls of the account, which limits its actions too. */
export function limitedUntil(sql: ISql) {
  return sql`
    (
      select h.limited_until
      from automation_accounts h
      where h.account_id = q.account_id
    )`;
}

/** A limit that an action met holds for the whole account, so also for its polls. */
export function isUnlimited(sql: ISql) {
  return sql`
    not exists (
      select 1
      from comment_action_queues q
      where q.account_id = automation_accounts.account_id
      and q.not_before > now()
    )`;
}

/** Null if no action of queue `q` has one of these statuses. */
function firstWake(sql: ISql, statuses: readonly string[]) {
  return sql`
    (
      select min(f.wake_at)
      from unnest(${statuses as string[]}::text[]) as of(status)
      cross join lateral (
        select a.wake_at
        from comment_actions a
        where a.account_id = q.account_id
        and a.status = of.status
        and a.status in ('queued', 'working', 'unknown', 'reconciling')
        order by a.wake_at
        limit 1
      ) as f
    )`;
}

/** When a claim looks at the queue again. */
function nextLook(sql: ISql, wakeAt: ReturnType<ISql>) {
  return sql`
    case
      when ${wakeAt} > now() then ${wakeAt}
      when ${wakeAt} is not null then ${recheckAt(sql)}
    end`;
}

export async function scheduleQueues(
  tx: TransactionSql,
  accountIds: readonly string[],
): Promise<void> {
  await tx`
    update comment_action_queues q
    set wake_at = case
        when n.wake_at is not null then greatest(n.wake_at, q.not_before, n.limited_until)
      end
    from (
      select w.account_id, least(${nextLook(tx, tx`w.look_at`)}, case
          when w.is_paused then case when w.call_at is not null then greatest(w.call_at, now() + ${PAUSED_RECHECK_SECONDS}::float8 * interval '1 second') end
          else ${nextLook(tx, tx`w.call_at`)}
        end) as wake_at, w.limited_until
      from (
        select q.account_id,
          ${firstWake(tx, ["queued", "working"])} as call_at,
          ${firstWake(tx, ["unknown", "reconciling"])} as look_at,
          exists (select 1 from pauses where ${isPaused(tx)}) as is_paused,
          ${limitedUntil(tx)} as limited_until
        from comment_action_queues q
        where q.account_id in ${tx(accountIds)}
      ) as w
    ) as n
    where q.account_id = n.account_id`;
}
