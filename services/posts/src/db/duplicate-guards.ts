import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/**
 * While it exists, no other post can publish the content on the account within 24 hours of the
 * planned time, of now while its outcome is open, or of its publication.
 */
export interface Guard {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly targetId: string;
  /** SHA-256 in hex. */
  readonly contentHash: string;
  readonly plannedAt: Date;
}

/** A target of another post that has the same content on the same account. */
export interface GuardClash {
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  /** When the other target is due, or was published. */
  readonly plannedAt: Date;
}

/** A draft's targets have no content hash yet and therefore no guard. */
export function toGuards(
  workspaceId: string,
  targets: readonly {
    readonly id: string;
    readonly accountId: string;
    readonly contentHash: string | null;
  }[],
  plannedAt: Date | null,
): Guard[] {
  return targets.flatMap(({ id: targetId, accountId, contentHash }) =>
    contentHash === null || plannedAt === null
      ? []
      : [{ workspaceId, targetId, accountId, contentHash, plannedAt }],
  );
}

function toRows(guards: readonly Omit<Guard, "plannedAt">[]) {
  return guards.map((guard) => ({
    workspace_id: guard.workspaceId,
    account_id: guard.accountId,
    target_id: guard.targetId,
    content_hash: guard.contentHash,
  }));
}

function rowsOf(sql: ISql, guards: readonly Guard[]) {
  const rows = toRows(guards).map((row, index) => ({
    ...row,
    due_at: guards[index]?.plannedAt.toISOString() ?? null,
  }));
  return sql`
    select workspace_id, account_id, target_id, decode(content_hash, 'hex') as content_hash, due_at
    from jsonb_to_recordset(${sql.json(rows)})
      as guard (workspace_id uuid, account_id uuid, target_id uuid, content_hash text, due_at timestamptz)`;
}

/**
 * Returns the targets that got a guard: none that clashes with a stored guard. A trigger compares
 * them with concurrent transactions, and stops the statement with `duplicate_content`; `force`
 * skips all that. The locks are taken first, in the order of the rows: the trigger would take them
 * only at the end of a statement that also locks quota counters, which other requests lock after
 * guards.
 */
function guardInsert(sql: ISql, guards: readonly Guard[], force: boolean) {
  const lock = force ? sql`` : sql`, lock_guard(account_id, content_hash)`;
  return sql`
    with guard as materialized (
      select ordered.*${lock}
      from (
        select *
        from (${rowsOf(sql, guards)}) as new
        order by account_id, content_hash
      ) as ordered
    )
    insert into duplicate_guards (workspace_id, account_id, target_id, content_hash, due_at, is_checked)
    select workspace_id, account_id, target_id, content_hash, due_at, ${!force}
    from guard
    where ${force} or not exists (
      select 1
      from duplicate_guards as held
      where held.account_id = guard.account_id
      and held.content_hash = guard.content_hash
      and guard_clashes(held.due_at, held.expires_at, guard.due_at)
    )
    order by account_id, content_hash
    returning target_id`;
}

/**
 * Returns the clashes; then nothing is inserted, and the caller rolls back. A statement of its own
 * takes the locks first, so that the insert sees what others committed.
 */
export async function takeGuards(
  tx: TransactionSql,
  guards: readonly Guard[],
  force: boolean,
): Promise<readonly Guard[]> {
  if (guards.length === 0) return [];
  if (!force)
    await tx`
      select lock_guard(account_id, content_hash)
      from (
        select account_id, content_hash
        from (${rowsOf(tx, guards)}) as guard
        order by account_id, content_hash
      ) as ordered`;
  const taken = new Set(
    (await guardInsert(tx, guards, force).execute()).map(({ targetId }) => targetId as string),
  );
  return guards.filter(({ targetId }) => !taken.has(targetId));
}

/** Returns the targets whose guard was compared with others, unlike that of a forced post. */
export async function listCheckedGuards(
  tx: TransactionSql,
  targetIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (targetIds.length === 0) return new Set();
  const rows = await tx<{ targetId: string }[]>`
    select target_id
    from duplicate_guards
    where target_id = any(${`{${targetIds.join(",")}}`}::uuid[])
    and is_checked`;
  return new Set(rows.map(({ targetId }) => targetId));
}

/**
 * Null: the guard does not expire. A target whose guard was deleted gets a new one even though
 * another target may guard the same content.
 */
export async function keepGuards(
  tx: TransactionSql,
  guards: readonly (Omit<Guard, "plannedAt"> & { readonly expiresAt: Date | null })[],
): Promise<void> {
  if (guards.length === 0) return;
  const rows = toRows(guards).map((row, index) => ({
    ...row,
    expires_at: guards[index]?.expiresAt?.toISOString() ?? null,
  }));
  await tx`
    insert into duplicate_guards (workspace_id, account_id, target_id, content_hash, due_at, expires_at)
    select workspace_id, account_id, target_id, decode(content_hash, 'hex'), now(), expires_at
    from jsonb_to_recordset(${tx.json(rows)}) as guard (
      workspace_id uuid, account_id uuid, target_id uuid, content_hash text, expires_at timestamptz
    )
    order by target_id
    on conflict (target_id) do update
    set expires_at = excluded.expires_at`;
}

export async function freeGuards(
  tx: TransactionSql,
  targets: readonly { readonly workspaceId: string; readonly targetId: string }[],
): Promise<void> {
  if (targets.length === 0) return;
  const keys = targets.map((key) => ({ workspace_id: key.workspaceId, target_id: key.targetId }));
  await tx`
    delete from duplicate_guards
    where (workspace_id, target_id) in (
      select workspace_id, target_id
      from jsonb_to_recordset(${tx.json(keys)}) as key (workspace_id uuid, target_id uuid)
    )`;
}

/** Lists, for each account, a target of another post that guards the same content. */
export async function listClashes(
  sql: ISql,
  guards: readonly Guard[],
): Promise<readonly GuardClash[]> {
  return await sql<GuardClash[]>`
    select distinct on (held.account_id) target.post_id, held.account_id, target.platform,
      coalesce(held.expires_at - interval '24 hours', held.due_at) as planned_at
    from (${rowsOf(sql, guards)}) as guard
    join duplicate_guards as held on held.account_id = guard.account_id
      and held.workspace_id = guard.workspace_id
      and held.content_hash = guard.content_hash
      and held.target_id <> guard.target_id
      and guard_clashes(held.due_at, held.expires_at, guard.due_at)
    join targets as target on target.id = held.target_id
      and target.workspace_id = held.workspace_id
    order by held.account_id, held.is_checked desc, held.target_id`;
}

/** Those of posts that were published before they were due are deleted later than they expire. */
export async function deleteExpiredGuards(sql: ISql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from duplicate_guards
    where target_id in (
      select target_id
      from duplicate_guards
      where expires_at < now()
      and due_at < now() - interval '24 hours'
      order by due_at
      limit ${limit}
      for update skip locked
    )`;
  return deleted.count;
}
