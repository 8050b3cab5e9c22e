import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/** A duplicate guard: while it exists, no other post can publish the same content on the same account. */
export interface Guard {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly targetId: string;
  /** SHA-256, in hex, of the content that is published for the target. */
  readonly contentHash: string;
}

/** A target of another post that has the same content on the same account. */
export interface GuardClash {
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
}

/**
 * Returns a duplicate guard for each target of a post. A draft's targets have no content hash yet and
 * therefore no guard.
 */
export function toGuards(
  workspaceId: string,
  targets: readonly {
    readonly id: string;
    readonly accountId: string;
    readonly contentHash: string | null;
  }[],
): Guard[] {
  return targets.flatMap(({ id: targetId, accountId, contentHash }) =>
    contentHash === null ? [] : [{ workspaceId, targetId, accountId, contentHash }],
  );
}

function toRows(guards: readonly Guard[]) {
  return guards.map((guard) => ({
    workspace_id: guard.workspaceId,
    account_id: guard.accountId,
    target_id: guard.targetId,
    content_hash: guard.contentHash,
  }));
}

function rowsOf(sql: ISql, guards: readonly Guard[]) {
  return sql`
    select workspace_id, account_id, target_id, decode(content_hash, 'hex') as content_hash
    from jsonb_to_recordset(${sql.json(toRows(guards))})
      as guard (workspace_id uuid, account_id uuid, target_id uuid, content_hash text)`;
}

/**
 * Returns the SQL that inserts duplicate guards and returns the ids of the targets that got a guard. A target gets no guard if
 * another target already guards the same content on its account. A unique index decides between concurrent posts. With `force`
 * every target gets a guard, whatever other targets guard. A statement without `force` does not see a guard that a concurrent
 * transaction inserts with `force`. Both posts are then stored, as if the forced post were the later one.
 */
export function guardInsert(sql: ISql, guards: readonly Guard[], force: boolean) {
  if (force) {
    return sql`
      insert into duplicate_guards (workspace_id, account_id, target_id, content_hash, exclusive)
      select workspace_id, account_id, target_id, content_hash, false
      from (${rowsOf(sql, guards)}) as guard
      returning target_id`;
  }
  return sql`
    insert into duplicate_guards (workspace_id, account_id, target_id, content_hash, exclusive)
    select workspace_id, account_id, target_id, content_hash, true
    from (${rowsOf(sql, guards)}) as guard
    where not exists (
      select 1
      from duplicate_guards as other
      where other.account_id = guard.account_id
      and other.content_hash = guard.content_hash
      and not other.exclusive
      and (other.expires_at is null or other.expires_at > now())
    )
    order by account_id, content_hash
    on conflict (account_id, content_hash) where exclusive do update
    set workspace_id = excluded.workspace_id,
      target_id = excluded.target_id,
      expires_at = null
    where duplicate_guards.expires_at <= now()
    returning target_id`;
}

/**
 * Inserts duplicate guards. Returns the guards that were not inserted, because another target already guards the same
 * content. The caller rolls back if there are any.
 */
export async function takeGuards(
  tx: TransactionSql,
  guards: readonly Guard[],
  force: boolean,
): Promise<readonly Guard[]> {
  if (guards.length === 0) return [];
  const taken = new Set(
    (await guardInsert(tx, guards, force).execute()).map(({ targetId }) => targetId as string),
  );
  return guards.filter(({ targetId }) => !taken.has(targetId));
}

/**
 * Sets the time at which duplicate guards expire; null means that a guard does not expire. If the guard of a target was
 * deleted, the target gets a new guard even though another target may guard the same content.
 */
export async function keepGuards(
  tx: TransactionSql,
  guards: readonly (Guard & { readonly expiresAt: Date | null })[],
): Promise<void> {
  if (guards.length === 0) return;
  const rows = toRows(guards).map((row, index) => ({
    ...row,
    expires_at: guards[index]?.expiresAt?.toISOString() ?? null,
  }));
  await tx`
    insert into duplicate_guards (workspace_id, account_id, target_id, content_hash, exclusive, expires_at)
    select workspace_id, account_id, target_id, decode(content_hash, 'hex'), false, expires_at
    from jsonb_to_recordset(${tx.json(rows)}) as guard (
      workspace_id uuid, account_id uuid, target_id uuid, content_hash text, expires_at timestamptz
    )
    order by target_id
    on conflict (target_id) do update
    set expires_at = excluded.expires_at`;
}

/** Deletes the duplicate guards of targets. */
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

/**
 * Lists the targets of other posts that guard the same content as the given guards, one target for each
 * account.
 */
export async function listClashes(
  sql: ISql,
  guards: readonly Guard[],
): Promise<readonly GuardClash[]> {
  return await sql<GuardClash[]>`
    select distinct on (held.account_id) target.post_id, held.account_id, target.platform
    from (${rowsOf(sql, guards)}) as guard
    join duplicate_guards as held on held.account_id = guard.account_id
      and held.workspace_id = guard.workspace_id
      and held.content_hash = guard.content_hash
      and held.target_id <> guard.target_id
    join targets as target on target.id = held.target_id
      and target.workspace_id = held.workspace_id
    where held.expires_at is null
    or held.expires_at > now()
    order by held.account_id, held.exclusive desc, held.target_id`;
}

/** Deletes up to `limit` expired duplicate guards of all workspaces and returns the number of deleted guards. */
export async function deleteExpiredGuards(sql: ISql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from duplicate_guards
    where target_id in (
      select target_id
      from duplicate_guards
      where expires_at < now()
      order by expires_at
      limit ${limit}
      for update skip locked
    )`;
  return deleted.count;
}
