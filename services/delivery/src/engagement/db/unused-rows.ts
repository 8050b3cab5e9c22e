import type { Sql } from "@postrider/shared/postgres";

/** Jobs that no request has continued for this number of days, with their results. */
export async function deleteAgedBackfills(sql: Sql, days: number, limit: number): Promise<number> {
  const { count } = await sql`
    with old as materialized (
      select id
      from backfills
      where updated_at < now() - ${days} * interval '1 day'
      limit ${limit}
      for update skip locked
    ),
    results as (
      delete from backfill_results
      using old
      where backfill_id = old.id
    )
    delete from backfills
    using old
    where backfills.id = old.id`;
  return count;
}

/** Revoked rules are kept for the list of their runs, so they go after the last of these. */
export async function deleteUnusedRules(sql: Sql, days: number, limit: number): Promise<number> {
  const { count } = await sql`
    delete from automation_rules
    where id in (
      select id
      from automation_rules as r
      where status = 'revoked'
      and updated_at < now() - ${days} * interval '1 day'
      and not exists (select from automation_runs where rule_id = r.id)
      and not exists (select from backfills where rule_id = r.id)
      limit ${limit}
      for update skip locked
    )`;
  return count;
}

/**
 * What is known of the comments on media of accounts without an active rule. A rule that becomes
 * active later answers only comments that are newer than its activation, so nothing is answered
 * again.
 */
export async function deleteUnwatchedMedia(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from automation_media
    where (account_id, media_id) in (
      select m.account_id, m.media_id
      from automation_media as m
      join automation_accounts as a on a.account_id = m.account_id
      where a.poll_at = 'infinity'
      and a.lease_until < now() - interval '1 day'
      limit ${limit}
      for update of m skip locked
    )`;
  return count;
}
