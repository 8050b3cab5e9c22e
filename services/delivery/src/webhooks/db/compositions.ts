import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import type { EventSource, WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

export async function insertCompositions(
  tx: TransactionSql,
  compositions: readonly { readonly event: WebhookEvent; readonly cause: Cause }[],
): Promise<void> {
  if (compositions.length === 0) return;
  const rows = compositions.map(({ event, cause }) => ({
    event_id: event.id,
    workspace_id: event.workspaceId,
    type: event.type,
    occurred_at: event.occurredAt.toISOString(),
    sequence: event.sequence,
    source: event.source,
    cause,
  }));
  // A repeated webhook event that reaches another subscription may still wait for its payload. The
  // update waits for a transaction that is just deleting the row of the event, because that
  // transaction does not see the new delivery.
  await tx`
    insert into webhook_compositions (
      event_id, workspace_id, type, occurred_at, sequence, source, cause
    )
    select event_id, workspace_id, type, occurred_at, sequence, source, cause
    from jsonb_to_recordset(${tx.json(rows)}) as event (
      event_id uuid, workspace_id uuid, type text, occurred_at timestamptz, sequence bigint,
      source jsonb, cause jsonb
    )
    order by event_id
    on conflict (event_id) do update
    set lease_until = webhook_compositions.lease_until`;
}

export interface Composition extends WebhookEvent {
  readonly cause: Cause;
  /** Number of failures to write the payload that the event itself caused. */
  readonly tries: number;
}

/**
 * Lists workspaces with events without a payload, also claimed ones. Each step reads one row of the
 * index, however many events a workspace has.
 */
export async function listWaitingWorkspaces(
  sql: ISql,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql<{ workspaceId: string }[]>`
    with recursive step (workspace_id, number) as (
      (
        select workspace_id, 1
        from webhook_compositions
        where workspace_id > ${after}
        order by workspace_id
        limit 1
      )
      union all
      select later.workspace_id, step.number + 1
      from step
      cross join lateral (
        select workspace_id
        from webhook_compositions
        where workspace_id > step.workspace_id
        order by workspace_id
        limit 1
      ) as later
      where step.number < ${limit}
    )
    select workspace_id
    from step
    order by workspace_id`;
  return rows.map(({ workspaceId }) => workspaceId);
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
      -- A restore brings the older versions of resources back. The numbers of later changes must be higher than those that
      -- receivers have seen, or receivers would ignore them. Versions grow by less than one in a millisecond.
      sequence + coalesce((select (extract(epoch from restored_at) * 1000)::bigint from deployment), 0) as sequence`;
}

/** Returns the ids of those events whose payload is not written yet. */
export async function lockCompositions(
  tx: TransactionSql,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx<{ eventId: string }[]>`
    select event_id
    from webhook_compositions
    where event_id = any(${[...eventIds]}::uuid[])
    order by event_id
    for update`;
  return new Set(rows.map(({ eventId }) => eventId));
}

export async function deleteCompositions(
  tx: TransactionSql,
  eventIds: readonly string[],
): Promise<void> {
  await tx`delete from webhook_compositions where event_id = any(${[...eventIds]}::uuid[])`;
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
