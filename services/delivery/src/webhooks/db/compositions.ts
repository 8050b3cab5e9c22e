import type { ISql, SqlFragment, TransactionSql } from "@postrider/shared/postgres";
import { listNextWorkspaces } from "@postrider/shared/postgres/next-workspaces";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { isMovedBefore } from "#src/db/stopped-workspaces.ts";
import type { EventSource, WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/** A webhook event before it has a payload. */
export interface NewEvent {
  readonly event: WebhookEvent;
  readonly cause: Cause;
  /** The only subscription that receives the event, whatever its filters. */
  readonly only?: string;
  /** A subscription that does not receive the event. */
  readonly except?: string;
}

/**
 * How long before a subscription was created an event may have happened that it still receives. It
 * allows for differences between clocks, and without it a consumer that reads its topic again would
 * send the events of several days to a new subscription.
 */
const BEFORE_CREATION = "1 minute";

/** Maximum age of events that are assigned to subscriptions. */
const MAX_AGE = "7 days";

/**
 * SQL for the ids of the subscriptions that receive the event in the row `event`: active and paused
 * ones of its workspace. An event for one subscription only (`webhook.test`) waits for a disabled
 * subscription to become active, because the event tests the new address.
 */
function receiversOf(sql: ISql) {
  return sql`
    select array_agg(subscription.id) as ids
    from webhook_subscriptions as subscription
    where subscription.workspace_id = event.workspace_id
    and status <> 'revoked'
    -- What happens to the rows of a workspace after it was moved is not its history any more.
    and not ${isMovedBefore(sql, sql`event.workspace_id`, sql`event.occurred_at`)}
    and (status <> 'disabled' or event.only_id is not null)
    and event.occurred_at >= greatest(
      now() - ${MAX_AGE}::interval, subscription.created_at - ${BEFORE_CREATION}::interval
    )
    and case
      when event.only_id is not null then subscription.id = event.only_id
      else subscription.events && event.filters and subscription.id is distinct from event.except_id
    end`;
}

/**
 * Stores webhook events that a subscription receives, one row each. The job `compose-payloads`
 * writes the payloads and the deliveries; their ids depend only on event and subscription, so a
 * repeated event makes no second delivery.
 */
export async function insertCompositions(
  tx: TransactionSql,
  events: readonly (NewEvent & { readonly filters: readonly string[] })[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ event, cause, filters, only, except }) => ({
    ...event,
    cause,
    filters,
    only_id: only,
    except_id: except,
    workspace_id: event.workspaceId,
    occurred_at: event.occurredAt.toISOString(),
  }));
  // An event that is repeated while it waits may have another receiver, such as a new subscription.
  // The end of its lease lets it be composed again at once, because a process that has read the
  // row before does not know that receiver.
  await tx`
    insert into webhook_compositions (
      event_id, workspace_id, type, occurred_at, sequence, source, cause, subscription_ids
    )
    select event.id, event.workspace_id, type, occurred_at, sequence, source, cause, receivers.ids
    from jsonb_to_recordset(${tx.json(rows)}) as event (
      id uuid, workspace_id uuid, type text, occurred_at timestamptz, sequence bigint, source jsonb,
      cause jsonb, filters text[], only_id uuid, except_id uuid
    )
    cross join lateral (${receiversOf(tx)}) as receivers
    where receivers.ids is not null
    order by event.id
    on conflict (event_id) do update
    set lease_until = '-infinity',
      subscription_ids = array(
        select unnest(webhook_compositions.subscription_ids)
        union
        select unnest(excluded.subscription_ids)
      )
    where not webhook_compositions.subscription_ids @> excluded.subscription_ids`;
}

export interface Composition extends WebhookEvent {
  readonly cause: Cause;
  readonly subscriptionIds: readonly string[];
  /** Number of failures to write the payload that the event itself caused. */
  readonly tries: number;
}

/** Lists workspaces with events without a payload, also claimed ones. */
export async function listWaitingWorkspaces(
  sql: ISql,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const next = (previous: SqlFragment) => sql`
    select workspace_id
    from webhook_compositions
    where workspace_id > ${previous}
    order by workspace_id
    limit 1`;
  return await listNextWorkspaces(sql, next, after, limit);
}

/**
 * Claims webhook events of the given workspaces whose payload has to be written. The workspaces
 * take turns, so that many events of one workspace do not delay the others; within a workspace, the
 * oldest event comes first. Until the lease ends, no other process claims the events.
 *
 * @param options.except What events are about (`post`, `account`, …) whose owning service is
 *   unavailable; these events wait.
 */
export async function claimCompositions(
  sql: ISql,
  options: {
    readonly workspaceIds: readonly string[];
    readonly limit: number;
    readonly leaseMs: number;
    readonly except: readonly EventSource["kind"][];
  },
): Promise<readonly Composition[]> {
  const { workspaceIds, limit, leaseMs, except } = options;
  // With many workspaces, few events of each can be chosen, so only those are read.
  const perWorkspace = Math.min(limit, Math.ceil((2 * limit) / workspaceIds.length) + 1);
  return await sql<Composition[]>`
    with waiting as (
      select event_id, workspace.id as workspace_id,
        row_number() over (partition by workspace.id order by event_id) as turn
      from unnest(${[...workspaceIds]}::uuid[]) as workspace (id)
      cross join lateral (
        select event_id
        from webhook_compositions
        where workspace_id = workspace.id
        and lease_until <= now()
        and source ->> 'kind' <> all(${[...except]}::text[])
        order by event_id
        limit ${perWorkspace}
      ) as own
    ),
    claimed as (
      select event_id
      from webhook_compositions
      where event_id in (
        select event_id
        from waiting
        order by turn, workspace_id
        limit ${limit}
      )
      and lease_until <= now()
      order by event_id
      for update skip locked
    )
    update webhook_compositions as composition
    set lease_until = now() + ${leaseMs}::float8 * interval '1 millisecond'
    from claimed
    where composition.event_id = claimed.event_id
    returning composition.event_id as id, workspace_id, type, occurred_at, source, cause, tries,
      to_json(subscription_ids) as subscription_ids,
      ${sequenceOf(sql)} as sequence`;
}

/**
 * A restore brings the older versions of resources back. The numbers of later changes must be
 * higher than those that receivers have seen, or receivers would ignore them; also after the
 * restore is declared lossless, and where the workspace is imported. Versions grow by less than one
 * in a millisecond.
 */
function sequenceOf(sql: ISql) {
  const since = sql`greatest(restored_at, trusted_at, imported_at)`;
  return sql`
    sequence + coalesce((select (extract(epoch from ${since}) * 1000)::bigint from deployment), 0)`;
}

/** Of all workspaces, above those of the installation that a workspace is imported from. */
export async function raiseSequences(sql: ISql): Promise<void> {
  await sql`
    update deployment
    set imported_at = greatest(imported_at, clock_timestamp())`;
}

/** Returns an event that was stored in the same transaction, so that no process has claimed it. */
export async function readComposition(
  tx: TransactionSql,
  eventId: string,
): Promise<Composition | undefined> {
  const [row] = await tx<Composition[]>`
    select event_id as id, workspace_id, type, occurred_at, source, cause, tries,
      to_json(subscription_ids) as subscription_ids, ${sequenceOf(tx)} as sequence
    from webhook_compositions
    where event_id = ${eventId}`;
  return row;
}

/** Ends the lease of events whose object could not be read, because its owner is unavailable. */
export async function releaseCompositions(sql: ISql, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length === 0) return;
  await sql`
    update webhook_compositions
    set lease_until = '-infinity'
    where event_id = any(${[...eventIds]}::uuid[])`;
}

/** Counts a failure of events, which then wait for the next try: 1 s, 2 s, 4 s and so on. */
export async function delayCompositions(sql: ISql, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length === 0) return;
  await sql`
    update webhook_compositions
    set tries = tries + 1,
      lease_until = now() + power(2, tries) * interval '1 second'
    where event_id = any(${[...eventIds]}::uuid[])`;
}
