import type { ISql } from "@postrider/shared/postgres";
import { mediaUseHolds } from "#src/db/media-uses.ts";
import type { PostRecords } from "#src/db/new-post.ts";

/** Joins JSON texts of records, separated by commas, to a parameter that `jsonb_to_recordset` reads. */
function recordset(sql: ISql, texts: readonly string[]) {
  return sql`jsonb_to_recordset(${`[${texts.filter((text) => text !== "").join(",")}]`}::text::jsonb)`;
}

/** Reads the records of new posts, with their targets and their quota demands. */
export function inputSteps(sql: ISql, posts: readonly PostRecords[]) {
  return sql`
    input as materialized (
      select *
      from rows from (
        ${recordset(
          sql,
          posts.map(({ post }) => post),
        )} as (
          id uuid, workspace_id uuid, status text, content text, options jsonb, media_ids uuid[], media jsonb,
          scheduled_at timestamptz, started_at timestamptz, created_via text, queue_slot_rule_id uuid, platforms text[],
          accepted_at timestamptz, due_at timestamptz, publish_before timestamptz, force boolean, cause jsonb, deed jsonb,
          event jsonb, exhaustions jsonb, operation text, key text, fingerprint text, response text, answered_post_id uuid
        )
      ) with ordinality as input
    ),
    input_target as materialized (
      select target.*, decode(content_hash, 'hex') as hash
      from ${recordset(
        sql,
        posts.map(({ targets }) => targets),
      )} as target (
        id uuid, post_id uuid, ordinal int, account_id uuid, platform text, username text, due_day text,
        content_hash text, settings jsonb
      )
    ),
    demand as materialized (
      select demand.*, input.ordinality
      from ${recordset(
        sql,
        posts.map(({ demands }) => demands),
      )} as demand (
        post_id uuid, workspace_id uuid, subject text, period text, requested int, ceiling int
      )
      join input on input.id = demand.post_id
    )`;
}

/** Finds the posts that cannot be stored, as far as the snapshot of the statement shows. */
export function verdictSteps(sql: ISql) {
  return sql`
    clash as materialized (
      select target.post_id
      from input_target as target,
      lateral (select due_at from input where id = target.post_id and not force) as input,
      lateral (
        select 1
        from duplicate_guards as held
        where held.account_id = target.account_id
        and held.content_hash = target.hash
        and guard_clashes(held.due_at, held.expires_at, input.due_at)
        limit 1
      ) as held
    ),
    short as materialized (
      select post_id
      from (
        select demand.*, coalesce(taken, 0)
          + sum(requested) over (partition by workspace_id, subject, period order by ordinality) as reached
        from demand
        left join lateral (
          select used + reserved as taken
          from quota_usage
          where quota_usage.workspace_id = demand.workspace_id
          and quota_usage.subject = demand.subject
          and quota_usage.period = demand.period
          limit 1
        ) as counter on true
      ) as demand
      where reached > ceiling
    ),
    verdict as materialized (
      select input.*, case
        when not ${mediaUseHolds(sql, sql`input.media_ids`, sql`input.accepted_at`)} then 'media_use_expired'
        when id in (select post_id from clash) then 'duplicate_content'
        when id in (select post_id from short) then 'quota_exceeded'
      end as refusal
      from input
    )`;
}
