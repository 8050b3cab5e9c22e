import { MAX_COUNT } from "@postrider/rest/dashboard/parts";
import type { ISql } from "@postrider/shared/postgres";
import type {
  LimitedAccount,
  HeldPlatform,
  WaitCauses,
  UsedUpPlatform,
} from "#src/publishing/domain/waits.ts";

export interface PauseRow {
  /** `deletion`: of a workspace whose deletion was requested; it ends with the request. */
  readonly kind: "platform" | "account" | "workspace" | "deletion";
  readonly key: string;
  readonly reason: string | null;
  readonly createdAt: Date;
}

/**
 * A pause with the same scope stays; a given reason replaces its reason. Returns the pause in
 * force, and whether it is new.
 */
export async function insertPause(
  sql: ISql,
  kind: PauseRow["kind"],
  key: string,
  reason?: string,
): Promise<PauseRow & { readonly isNew: boolean }> {
  // Without the update, the insert would not return the row of a pause that exists already. A row
  // that was inserted, not updated, has no `xmax`.
  const [row] = await sql<(PauseRow & { isNew: boolean })[]>`
    insert into pauses (kind, key, reason)
    values (${kind}, ${key}, ${reason ?? null})
    on conflict (kind, key) do update
    set reason = coalesce(excluded.reason, pauses.reason)
    returning kind, key, reason, created_at, xmax = 0 as is_new`;
  if (row === undefined) throw new Error("the pause was not written");
  return row;
}

export async function deletePause(
  sql: ISql,
  kind: PauseRow["kind"],
  key: string,
): Promise<boolean> {
  const result = await sql`
    delete from pauses
    where kind = ${kind}
    and key = ${key}`;
  return result.count > 0;
}

/** Undefined for an account that has not published, because delivery does not know it. */
export async function findWorkspaceOfAccount(
  sql: ISql,
  accountId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ workspaceId: string }[]>`
    select workspace_id
    from account_queues
    where account_id = ${accountId}`;
  return row?.workspaceId;
}

export async function listPauses(sql: ISql): Promise<readonly PauseRow[]> {
  return await sql<PauseRow[]>`
    select kind, key, reason, created_at
    from pauses
    order by created_at desc, kind, key`;
}

interface AccountScope {
  readonly workspaceId: string;
  readonly accountIds: readonly string[];
}

/** All that holds publications of some accounts back, except the hold of the whole deployment. */
export async function listWaitCauses(
  sql: ISql,
  scope: AccountScope,
): Promise<Omit<WaitCauses, "isDeploymentHeld">> {
  const { workspaceId, accountIds } = scope;
  const [pauses, platforms, limits, accounts] = await Promise.all([
    listPauses(sql),
    sql<HeldPlatform[]>`
      select platform, held_since, probe_at
      from platform_breakers
      where held_since is not null
      order by platform`,
    sql<UsedUpPlatform[]>`
      select platform, until, message
      from platform_limits
      where until > now()
      order by platform`,
    sql<LimitedAccount[]>`
      select account_id, not_before as until
      from account_breakers
      where account_id = any (${[...accountIds]}::uuid[])
      and workspace_id = ${workspaceId}
      and not_before > now()
      order by account_id`,
  ]);
  // A workspace that is being deleted has no session that would show the pause of its deletion.
  const shown = pauses.flatMap(({ kind, ...pause }) =>
    kind === "deletion" ? [] : [{ kind, ...pause }],
  );
  return { pauses: shown, platforms, limits, accounts };
}

export interface WaitingAccount {
  readonly accountId: string;
  readonly platform: string;
  /** Tasks that are due; at most one more than `MAX_COUNT`. */
  readonly count: number;
}

/** The same accounts, each with its tasks that are due and not begun. */
export async function countWaitingTasks(
  sql: ISql,
  workspaceId: string,
  accounts: readonly { readonly id: string; readonly platform: string }[],
): Promise<readonly WaitingAccount[]> {
  return await sql<WaitingAccount[]>`
    select own.account_id, own.platform, (
      select count(*)::int
      from (
        select
        from publish_tasks t
        where t.account_id = own.account_id
        and t.workspace_id = ${workspaceId}
        and t.status = 'queued'
        and t.wake_at <= now()
        limit ${MAX_COUNT + 1}
      ) as counted
    ) as count
    from unnest(
      ${accounts.map(({ id }) => id)}::uuid[],
      ${accounts.map(({ platform }) => platform)}::text[]
    ) as own (account_id, platform)`;
}

interface WaitingTask {
  readonly targetId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly wakeAt: Date;
  readonly isDue: boolean;
}

/** The newest generation of each target. */
export async function listWaitingTasks(
  sql: ISql,
  workspaceId: string,
  targetIds: readonly string[],
): Promise<readonly WaitingTask[]> {
  return await sql<WaitingTask[]>`
    select distinct on (target_id) target_id, account_id, platform, status, error_code, wake_at, wake_at <= now() as is_due
    from publish_tasks
    where target_id = any (${[...targetIds]}::uuid[])
    and workspace_id = ${workspaceId}
    order by target_id, generation desc`;
}
