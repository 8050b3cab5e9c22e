import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { DisabledReason, Subscription } from "#src/webhooks/domain/subscription.ts";

function columns(sql: ISql) {
  return sql`
    id, workspace_id, url, description, to_json(events) as events, status, disabled_reason, signing, public_key,
    max_per_second, version, created_at, updated_at`;
}

/** Inserts a subscription and the row that processes lease to send its deliveries. */
export async function insertSubscription(tx: TransactionSql, row: Subscription): Promise<void> {
  await tx`
    insert into webhook_subscriptions (
      id, workspace_id, url, description, events, status, disabled_reason, signing, public_key, max_per_second,
      version, created_at, updated_at
    ) values (
      ${row.id}, ${row.workspaceId}, ${row.url}, ${row.description}, ${[...row.events]}::text[], ${row.status},
      ${row.disabledReason}, ${row.signing}, ${row.publicKey}, ${row.maxPerSecond}, ${row.version}, ${row.createdAt},
      ${row.updatedAt}
    )`;
  await tx`
    insert into webhook_leases (subscription_id, workspace_id)
    values (${row.id}, ${row.workspaceId})`;
}

/** Imported subscriptions, whose secrets stayed in the other installation. */
export async function lockWithoutSecret(
  tx: TransactionSql,
  workspaceId: string,
): Promise<readonly Pick<Subscription, "id" | "signing">[]> {
  return await tx<Pick<Subscription, "id" | "signing">[]>`
    select id, signing
    from webhook_subscriptions s
    where workspace_id = ${workspaceId}
    and status <> 'revoked'
    and not exists (select from webhook_secrets where subscription_id = s.id)
    for no key update`;
}

export async function listActive(sql: ISql, workspaceId: string): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from webhook_subscriptions
    where workspace_id = ${workspaceId}
    and status = 'active'`;
  return rows.map(({ id }) => id);
}

/**
 * Makes the rows that processes lease for imported subscriptions `ids`, and lets those go on that
 * were active in the cell that they come from.
 */
export async function resumeImported(
  tx: TransactionSql,
  workspaceId: string,
  { ids, active }: { readonly ids: readonly string[]; readonly active: readonly string[] },
): Promise<void> {
  await tx`
    insert into webhook_leases (subscription_id, workspace_id)
    select id, workspace_id
    from webhook_subscriptions
    where workspace_id = ${workspaceId}
    and id = any(${ids as string[]}::uuid[])
    on conflict (subscription_id) do nothing`;
  await tx`
    update webhook_subscriptions
    set status = 'active'
    where workspace_id = ${workspaceId}
    and status = 'paused'
    and id = any(${active as string[]}::uuid[])`;
}

/** With the row that processes lease. */
export async function completeImported(
  tx: TransactionSql,
  row: Pick<Subscription, "workspaceId" | "id" | "publicKey">,
): Promise<void> {
  await tx`
    update webhook_subscriptions
    set public_key = ${row.publicKey}
    where workspace_id = ${row.workspaceId}
    and id = ${row.id}`;
  await tx`
    insert into webhook_leases (subscription_id, workspace_id)
    values (${row.id}, ${row.workspaceId})
    on conflict (subscription_id) do nothing`;
}

/**
 * Lists the subscriptions that are not revoked, newest first, and one more, which shows that
 * another page follows.
 */
export async function listSubscriptions(
  sql: ISql,
  workspaceId: string,
  page: { readonly limit: number; readonly before: string | undefined },
): Promise<readonly Subscription[]> {
  return await sql<Subscription[]>`
    select ${columns(sql)}
    from webhook_subscriptions
    where workspace_id = ${workspaceId}
    and status <> 'revoked'
    ${page.before === undefined ? sql`` : sql`and id < ${page.before}`}
    order by id desc
    limit ${page.limit + 1}`;
}

export async function findSubscription(
  sql: ISql,
  workspaceId: string,
  id: string,
): Promise<Subscription | undefined> {
  const [row] = await sql<Subscription[]>`
    select ${columns(sql)}
    from webhook_subscriptions
    where workspace_id = ${workspaceId}
    and id = ${id}`;
  return row;
}

export async function lockSubscription(
  tx: TransactionSql,
  workspaceId: string,
  id: string,
): Promise<Subscription | undefined> {
  const [row] = await tx<Subscription[]>`
    select ${columns(tx)}
    from webhook_subscriptions
    where workspace_id = ${workspaceId}
    and id = ${id}
    for no key update`;
  return row;
}

export async function updateSubscription(tx: TransactionSql, row: Subscription): Promise<void> {
  await tx`
    update webhook_subscriptions
    set url = ${row.url},
      description = ${row.description},
      events = ${[...row.events]}::text[],
      status = ${row.status},
      disabled_reason = ${row.disabledReason},
      max_per_second = ${row.maxPerSecond},
      version = ${row.version},
      updated_at = ${row.updatedAt}
    where workspace_id = ${row.workspaceId}
    and id = ${row.id}`;
}

/**
 * Counts the subscriptions of a workspace after taking an advisory lock, so that transactions that
 * add some run one after the other, and each counts those of the others.
 */
export async function lockSubscriptionCount(
  tx: TransactionSql,
  workspaceId: string,
): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`webhook_subscriptions ${workspaceId}`}, 0))`;
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count
    from webhook_subscriptions
    where workspace_id = ${workspaceId}
    and status <> 'revoked'`;
  return row?.count ?? 0;
}

export async function listSubscriptionsByIds(
  sql: ISql,
  ids: readonly string[],
): Promise<readonly Subscription[]> {
  if (ids.length === 0) return [];
  return await sql<Subscription[]>`
    select ${columns(sql)}
    from webhook_subscriptions
    where id = any(${[...ids]}::uuid[])`;
}

export interface DisabledSubscription {
  readonly workspaceId: string;
  readonly version: number;
  readonly disabledAt: Date;
}

export interface DisabledReceiver {
  readonly subscriptionId: string;
  /** Version of the subscription with which the attempt was sent. */
  readonly version: number;
  readonly reason: DisabledReason;
}

/**
 * Returns `changed` if a person has changed the subscription since the attempt began, and undefined
 * if it is disabled or revoked already.
 */
export async function disableSubscription(
  tx: TransactionSql,
  { subscriptionId, version, reason }: DisabledReceiver,
): Promise<DisabledSubscription | "changed" | undefined> {
  const [disabled] = await tx<DisabledSubscription[]>`
    update webhook_subscriptions
    set status = 'disabled',
      disabled_reason = ${reason},
      version = version + 1,
      updated_at = now()
    where id = ${subscriptionId}
    and version = ${version}
    and status in ('active', 'paused')
    returning workspace_id, version, updated_at as disabled_at`;
  if (disabled !== undefined) return disabled;
  const open = await tx`
    select 1
    from webhook_subscriptions
    where id = ${subscriptionId}
    and status in ('active', 'paused')`;
  return open.length === 0 ? undefined : "changed";
}

/**
 * Revoked ones whose history was dropped with its last partition. Their dispatcher's row is deleted
 * soon after the revocation, and keeps the subscription as long as it is there.
 */
export async function deleteOldRevoked(sql: ISql, days: number, limit: number): Promise<number> {
  const { count } = await sql`
    with old as materialized (
      select id
      from webhook_subscriptions as s
      where status = 'revoked'
      and updated_at < now() - ${days} * interval '1 day'
      and not exists (select from webhook_leases where subscription_id = s.id)
      limit ${limit}
      for update skip locked
    ),
    secrets as (
      delete from webhook_secrets
      using old
      where subscription_id = old.id
    )
    delete from webhook_subscriptions
    using old
    where webhook_subscriptions.id = old.id`;
  return count;
}
