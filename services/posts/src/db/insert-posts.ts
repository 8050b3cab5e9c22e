// oxlint-disable max-lines -- the steps of one statement are read together
import { deedInsert } from "@postrider/shared/audit/deeds";
import { eventRecordInsert } from "@postrider/shared/outbox";
import type { ISql } from "@postrider/shared/postgres";
import { inputSteps, type PostRecords } from "#src/db/new-post.ts";
import type { RefusalReason } from "#src/db/refusal.ts";

/** Why a statement did not store a post. `key_taken`: another request has the idempotency key. */
export type InsertRefusal = RefusalReason | "key_taken";

/** How long a statement with one or several posts waits for a key that is being taken. */
const KEY_WAIT = { one: "2s", several: "100ms" } as const;

/**
 * Stores new posts with all that belongs to them in one SQL statement, whose steps are below in
 * their order. Returns for each post why it was not stored; null for a stored one. No two of the
 * posts may have an idempotency key, a duplicate guard or a queue slot in common.
 *
 * A post that cannot be stored as far as the snapshot of the statement shows is left out. What
 * other transactions have taken meanwhile is decided by unique indexes, locked rows and the trigger
 * of the guards; then the whole statement fails with a `RefusalReason`. Locks are taken in the
 * order of keys, guards, slots, quota counters and, at the commit, counters of what a workspace
 * stores, each sorted, so that statements do not deadlock. Counters are locked last, because all
 * posts of a workspace share them.
 *
 * Steps for keys and slots are left out if no post has one; the statement has few different texts,
 * so Postgres plans it seldom.
 */
export async function insertPosts(
  sql: ISql,
  posts: readonly PostRecords[],
): Promise<readonly (InsertRefusal | null)[]> {
  const rows = await sql<{ id: string; refusal: InsertRefusal | null }[]>`
    with ${inputSteps(sql, posts)},
    ${verdictSteps(sql)},
    ${keySteps(sql, posts)},
    ${guardSteps(sql)},
    ${slotSteps(sql, posts)},
    ${rowSteps(sql)},
    ${quotaSteps(sql)},
    event as (${eventRecordInsert(sql, eventSteps(sql))})
    select verdict.id, case when stored.id is null then coalesce(verdict.refusal, 'key_taken') end as refusal
    from verdict
    left join stored on stored.id = verdict.id
    where (
      select case when taken.count = wanted.count then true else refuse('quota_exceeded') end
      from (select count(*) from quota) as taken, (select count(*) from wanted_quota) as wanted
    )`;
  const refusals = new Map(rows.map(({ id, refusal }) => [id, refusal]));
  return posts.map(({ id }) => refusals.get(id) ?? null);
}

/** Finds the posts that cannot be stored, as far as the snapshot of the statement shows. */
function verdictSteps(sql: ISql) {
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
        select demand.*, released, coalesce(taken, 0)
          + sum(requested) over (partition by workspace_id, subject, period order by ordinality) as reached
        from demand
        left join lateral (
          select counted(quota_usage) as taken, released
          from quota_usage
          where quota_usage.workspace_id = demand.workspace_id
          and quota_usage.subject = demand.subject
          and quota_usage.period = demand.period
          limit 1
        ) as counter on true
      ) as demand
      where reached > ceiling
      or released >= max_released(ceiling)
    ),
    verdict as materialized (
      select input.*, case
        when not media_use_holds(input.media_ids, input.accepted_at) then 'media_use_expired'
        when id in (select post_id from clash) then 'duplicate_content'
        when id in (select post_id from short) then 'quota_exceeded'
      end as refusal
      from input
    )`;
}

/**
 * Finds the posts without a key or whose key is free; after 24 hours a key is. The statement waits
 * for another transaction only up to a lock timeout, which is restored, because later steps may
 * wait for longer.
 */
function keySteps(sql: ISql, posts: readonly PostRecords[]) {
  if (!posts.some(({ isKeyed }) => isKeyed))
    return sql`stored as materialized (select * from verdict where refusal is null)`;
  return sql`
    patience as materialized (
      select current_setting('lock_timeout') as before, set_config('lock_timeout', ${posts.length === 1 ? KEY_WAIT.one : KEY_WAIT.several}, true)
      from verdict
      where refusal is null
      and key is not null
      limit 1
    ),
    taken_key as (
      insert into idempotency_keys as held (workspace_id, operation, key, fingerprint, response, post_id)
      select workspace_id, operation, key, fingerprint, decode(response, 'base64'), answered_post_id
      from verdict, patience
      where refusal is null
      and key is not null
      order by workspace_id, operation, key
      on conflict (workspace_id, operation, key) do update
      set fingerprint = excluded.fingerprint,
        response = excluded.response,
        created_at = excluded.created_at,
        post_id = excluded.post_id,
        content = null,
        options = null
      where held.created_at < now() - interval '24 hours'
      returning workspace_id, operation, key
    ),
    stored as materialized (
      select verdict.*
      from verdict, (
        select set_config('lock_timeout', coalesce((select before from patience), current_setting('lock_timeout')), true)
        from (select count(*) from taken_key) as keys
      ) as impatience
      where refusal is null
      and (key is null or (workspace_id, operation, key) in (select workspace_id, operation, key from taken_key))
    )`;
}

function guardSteps(sql: ISql) {
  return sql`
    locked_guard as materialized (
      select ordered.*, case when not force then lock_guard(account_id, hash) end
      from (
        select stored.workspace_id, target.account_id, target.id, target.hash, stored.due_at, stored.force
        from input_target as target
        join stored on stored.id = target.post_id
        where stored.due_at is not null
        and target.hash is not null
        order by target.account_id, target.hash
      ) as ordered
    ),
    guard as (
      insert into duplicate_guards (workspace_id, account_id, target_id, content_hash, due_at, is_checked)
      select workspace_id, account_id, id, hash, due_at, not force
      from locked_guard
      returning target_id
    )`;
}

/** Takes the queue slots, after the guards were locked. */
function slotSteps(sql: ISql, posts: readonly PostRecords[]) {
  if (!posts.some(({ hasSlot }) => hasSlot)) return sql`slotted as (select true as ok)`;
  return sql`
    wanted_slot as materialized (
      select workspace_id, scheduled_at, id, queue_slot_rule_id
      from stored, (select count(*) from locked_guard) as locked
      where queue_slot_rule_id is not null
      and scheduled_at is not null
      and locked.count >= 0
    ),
    slot as (
      insert into slot_assignments (workspace_id, slot_at, post_id, rule_id)
      select workspace_id, scheduled_at, id, queue_slot_rule_id
      from wanted_slot
      order by workspace_id, scheduled_at
      on conflict (workspace_id, slot_at) do nothing
      returning slot_at
    ),
    slotted as materialized (
      select case when taken.count = wanted.count then true else refuse('slot_taken') end as ok
      from (select count(*) from slot) as taken, (select count(*) from wanted_slot) as wanted
    )`;
}

/** At the commit, triggers lock what each workspace stores in the order of these posts. */
function rowSteps(sql: ISql) {
  // The sweep asks about targets without reports, which are not due before `due_at`.
  return sql`
    post as (
      insert into posts (
        id, workspace_id, status, content, options, media_ids, media, scheduled_at, started_at, created_via,
        queue_slot_rule_id, platforms, created_at, updated_at, cause
      )
      select
        id, workspace_id, status, content, options, media_ids, media, scheduled_at, started_at, created_via,
        queue_slot_rule_id, platforms, accepted_at, accepted_at, cause
      from stored
      where (select ok from slotted)
      order by workspace_id
      returning id
    ),
    target as (
      insert into targets (
        id, workspace_id, post_id, ordinal, account_id, platform, username, generation, due_at, publish_before, due_day,
        content_hash, settings, last_report_at, updated_at
      )
      select
        target.id, stored.workspace_id, stored.id, target.ordinal, account_id, platform, username, 1, due_at,
        publish_before, due_day, hash, settings, coalesce(due_at, accepted_at), accepted_at
      from input_target as target
      join stored on stored.id = target.post_id
      returning id
    ),
    deed as (${deedInsert(sql, sql`select deed from stored`)})`;
}

/** Takes the quota, one update per counter, after Postgres has written everything else. */
function quotaSteps(sql: ISql) {
  const reached = sql`counted(counter) + excluded.reserved`;
  // A map, because a join is not possible where a conflict is resolved.
  const ceiling = sql`(
    (select ceilings from quota_ceilings) ->> concat_ws(' ', counter.workspace_id, counter.subject, counter.period)
  )::bigint`;
  // Only a post that is inserted alone may use up a counter.
  const exhaustedAt = sql`(select accepted_at from stored where exhaustions is not null limit 1)`;
  return sql`
    wanted_quota as materialized (
      select demand.workspace_id, subject, period, sum(requested)::int as requested, min(ceiling) as ceiling
      from demand
      join stored on stored.id = demand.post_id
      group by 1, 2, 3
    ),
    quota_ceilings as materialized (
      select jsonb_object_agg(concat_ws(' ', workspace_id, subject, period), ceiling) as ceilings
      from wanted_quota
    ),
    quota as (
      insert into quota_usage as counter (workspace_id, subject, period, reserved, exhausted_at)
      select workspace_id, subject, period, requested, case when requested = ceiling then ${exhaustedAt} end
      from wanted_quota, (
        select (select count(*) from guard) + (select count(*) from post) + (select count(*) from target) as count
      ) as written
      where requested <= ceiling
      and written.count > 0
      order by workspace_id, period collate "C", subject collate "C"
      on conflict (workspace_id, subject, period) do update
      set reserved = counter.reserved + excluded.reserved,
        exhausted_at = coalesce(counter.exhausted_at, case when ${reached} = ${ceiling} then ${exhaustedAt} end)
      where ${reached} <= ${ceiling}
      and counter.released < max_released(${ceiling})
      returning workspace_id, subject, period, used, reserved, exhausted_at
    )`;
}

/** Only the statement knows which quotas a post uses up. */
function eventSteps(sql: ISql): ReturnType<ISql> {
  return sql`
    select event, case when exhaustions is not null then (
      select jsonb_build_object('exhausted', jsonb_agg(
        message || jsonb_build_object(
          code, message -> code || jsonb_build_object('used', used::text, 'reserved', reserved::text)
        )
        order by code desc, subject
      ))
      from quota
      join jsonb_to_recordset(exhaustions) as exhaustion (
        subject text, period text, code text, message jsonb
      ) using (subject, period)
      where quota.workspace_id = stored.workspace_id
      and quota.exhausted_at = stored.accepted_at
      having count(*) > 0
    ) end as addition
    from stored
    order by ordinality`;
}
