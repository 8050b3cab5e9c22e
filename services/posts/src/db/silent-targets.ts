import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import type { LockedPost, PostRef } from "#src/db/posts.ts";
import { type TargetKey, toRecords } from "./targets.ts";

export interface SilencePage {
  /** Without a report of the delivery service, after which a target is silent. */
  readonly silentMs: number;
  readonly limit: number;
  /** Only targets whose silence began then or later; a Postgres timestamp as text. */
  readonly since: string;
}

/** Excludes no target, however long ago its last report was. */
export const FIRST_SILENCE = "-infinity";

interface Silent {
  /** When the silence began: a Postgres timestamp as text, with all digits. */
  readonly silentSince: string;
}

/** Maximum time between two questions about a target, in multiples of `silentMs`. */
const MAX_BACK_OFF = 8;

/**
 * Questions about a target become rarer while nothing changes: the next one follows after the time
 * that it has waited, but within one and eight `silentMs`, give or take a fifth at random, so that
 * not all targets that were due together are asked about together.
 */
function silentFrom(sql: ISql, silentMs: number) {
  const silence = sql`${silentMs}::float8 * interval '1 millisecond'`;
  return sql`
    now() - ${silence} + (0.8 + 0.4 * random()) * least(
      greatest(now() - greatest(targets.updated_at, targets.due_at), ${silence}),
      ${MAX_BACK_OFF}::int * ${silence}
    )`;
}

export interface SilentTarget extends TargetKey, PostRef, Silent {
  readonly accountId: string;
  readonly platform: string;
  /** Whether the publishing of the target must not begin any more. */
  readonly isExpired: boolean;
}

/**
 * The longest silence first. A claimed target is not silent any more, so that other replicas claim
 * others. Failed ones with an unknown outcome are included until a day after their deadline,
 * because it may still become known.
 */
export async function takeSilentTargets(
  sql: ISql,
  { silentMs, limit, since }: SilencePage,
): Promise<readonly SilentTarget[]> {
  return await sql<SilentTarget[]>`
    with silent as materialized (
      select id, last_report_at
      from targets
      where publish_before is not null
      and (status in ('pending', 'publishing') or (status = 'failed' and error_code = 'outcome_unknown'))
      and last_report_at >= ${since}::text::timestamptz
      and last_report_at < now() - ${silentMs}::float8 * interval '1 millisecond'
      and (status <> 'failed' or publish_before > now() - interval '1 day')
      order by last_report_at
      limit ${limit}
      for update skip locked
    ),
    asked as (
      update targets
      set last_report_at = ${silentFrom(sql, silentMs)}
      from silent
      where targets.id = silent.id
      returning targets.workspace_id, targets.post_id, targets.id as target_id, targets.generation,
        targets.account_id, targets.platform, targets.publish_before, silent.last_report_at as silent_since
    )
    select workspace_id, post_id, target_id, generation, account_id, platform, silent_since::text as silent_since,
      publish_before <= now() and (
        select status = 'publishing'
        from posts
        where posts.id = asked.post_id
        and posts.workspace_id = asked.workspace_id
      ) as is_expired
    from asked
    order by asked.silent_since`;
}

export interface RequestedTargetRow extends PostRef, TargetKey {
  readonly accountId: string;
  readonly platform: string;
  readonly dueAt: Date;
  readonly publishBefore: Date;
  readonly version: number;
  /** The API request that created the target's post or was the last to change it. */
  readonly cause: Cause | null;
}

/** Locks the posts in id order. Targets with a newer generation are left out. */
export async function lockRequestedTargets(
  tx: TransactionSql,
  keys: readonly TargetKey[],
): Promise<readonly RequestedTargetRow[]> {
  return await tx<RequestedTargetRow[]>`
    select target.workspace_id, target.id as target_id, target.generation, target.account_id, target.platform,
      target.due_at, target.publish_before, post.id as post_id, post.version, post.cause
    from targets as target
    join posts as post on post.id = target.post_id
      and post.workspace_id = target.workspace_id
    where (target.workspace_id, target.id, target.generation) in (
      select workspace_id, id, generation
      from jsonb_to_recordset(${tx.json(toRecords(keys))}) as key (workspace_id uuid, id uuid, generation int)
    )
    and target.status in ('pending', 'publishing')
    and target.publish_before is not null
    and post.status = 'publishing'
    order by post.id, target.ordinal
    for update of post`;
}

/** Waiting events that are searched; reading them takes some ten milliseconds. */
const MAX_SEARCHED = 20_000;

/**
 * Leaves out targets that an event in the outbox names: repeating it would not make the bus faster,
 * and in a long outage the repetitions would fill the outbox. While very many events wait,
 * leaves out all: a search of a million would take seconds for each page, with the posts locked,
 * and make the reports about other posts late, which come only from the sweep then.
 */
export async function withoutWaiting<
  T extends Pick<PostRef, "postId"> & Pick<TargetKey, "targetId">,
>(sql: ISql, requested: readonly T[]): Promise<readonly T[]> {
  if (requested.length === 0) return [];
  const [found] = await sql<[{ isCutOff: boolean; payloads: string[] }]>`
    with first as materialized (
      select key, payload
      from outbox
      order by id
      limit ${MAX_SEARCHED + 1}
    )
    select count(*) > ${MAX_SEARCHED} as is_cut_off, coalesce(json_agg(payload) filter (
      where key = any(${requested.map(({ postId }) => postId)}::text[])
    ), '[]') as payloads
    from first`;
  if (found.isCutOff) return [];
  const waiting = found.payloads.join(" ");
  return requested.filter(({ targetId }) => !waiting.includes(targetId));
}

export async function lockPostsOfTargets(
  tx: TransactionSql,
  keys: readonly { readonly workspaceId: string; readonly targetId: string }[],
): Promise<readonly LockedPost[]> {
  const rows = keys.map((key) => ({ workspace_id: key.workspaceId, id: key.targetId }));
  return await tx<LockedPost[]>`
    select workspace_id, id as post_id, status
    from posts
    where (workspace_id, id) in (
      select targets.workspace_id, targets.post_id
      from jsonb_to_recordset(${tx.json(rows)}) as key (workspace_id uuid, id uuid)
      join targets on targets.workspace_id = key.workspace_id
        and targets.id = key.id
    )
    order by id
    for update`;
}

export interface DeletionKey {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly deletion: number;
}

export interface SilentDeletion extends DeletionKey, Silent {}

/** Claims deletions without a report for `silentMs`, as `takeSilentTargets` does. */
export async function takeSilentDeletions(
  sql: ISql,
  { silentMs, limit, since }: SilencePage,
): Promise<readonly SilentDeletion[]> {
  return await sql<SilentDeletion[]>`
    with silent as materialized (
      select id, last_report_at
      from targets
      where status = 'deleting'
      and last_report_at >= ${since}::text::timestamptz
      and last_report_at < now() - ${silentMs}::float8 * interval '1 millisecond'
      order by last_report_at
      limit ${limit}
      for update skip locked
    ),
    asked as (
      update targets
      set last_report_at = ${silentFrom(sql, silentMs)}
      from silent
      where targets.id = silent.id
      returning targets.workspace_id, targets.id as target_id, targets.deletion, silent.last_report_at as silent_since
    )
    select workspace_id, target_id, deletion, silent_since::text as silent_since
    from asked
    order by asked.silent_since`;
}

export interface RequestedDeletion extends PostRef, DeletionKey {
  readonly accountId: string;
  readonly platform: string;
  readonly externalId: string | null;
  readonly requestedAt: Date;
  readonly version: number;
}

/** Locks the posts in id order. Deletions that have ended are left out. */
export async function lockRequestedDeletions(
  tx: TransactionSql,
  keys: readonly DeletionKey[],
): Promise<readonly RequestedDeletion[]> {
  const rows = keys.map((key) => ({
    workspace_id: key.workspaceId,
    id: key.targetId,
    deletion: key.deletion,
  }));
  return await tx<RequestedDeletion[]>`
    select target.workspace_id, target.id as target_id, target.deletion, target.account_id, target.platform,
      target.external_id, target.deletion_requested_at as requested_at, post.id as post_id, post.version
    from targets as target
    join posts as post on post.id = target.post_id
      and post.workspace_id = target.workspace_id
    where (target.workspace_id, target.id, target.deletion) in (
      select workspace_id, id, deletion
      from jsonb_to_recordset(${tx.json(rows)}) as key (workspace_id uuid, id uuid, deletion int)
    )
    and target.status = 'deleting'
    and target.deletion_requested_at is not null
    order by post.id, target.ordinal
    for update of post`;
}
