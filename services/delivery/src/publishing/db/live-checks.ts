import type { LiveCheckStep, LivePost } from "@postrider/platforms/diagnosis/live/check-context";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { isUnpaused, openPlatforms } from "./account-queues.ts";

export interface NewLiveCheck {
  readonly id: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: PlatformId;
  readonly text: string;
  readonly mediaId: string | undefined;
}

/** Writes with this fence fail once another process has taken the check. */
export interface HeldCheck {
  readonly id: string;
  readonly fence: number;
}

export interface LiveCheckRow {
  readonly text: string;
  readonly steps: readonly LiveCheckStep[];
  readonly calledAt: Date | null;
  readonly endedAt: Date | null;
  readonly externalId: string | null;
  readonly permalink: string | null;
}

/** Undefined, and nothing is recorded, while its platform, account or workspace is paused. */
export async function insertLiveCheck(
  sql: ISql,
  { id, workspaceId, accountId, platform, text, mediaId }: NewLiveCheck,
  leaseMs: number,
): Promise<HeldCheck | undefined> {
  const [row] = await sql<HeldCheck[]>`
    insert into live_checks (id, workspace_id, account_id, platform, text, media_id, fence, lease_until)
    select ${id}, workspace_id, account_id, ${platform}, ${text}, ${mediaId ?? null}, 1,
      now() + ${leaseMs} * interval '1 millisecond'
    from (values (${workspaceId}::uuid, ${accountId}::uuid)) as c(workspace_id, account_id)
    where ${platform} in (${openPlatforms(sql, [platform])})
    and ${isUnpaused(sql)}
    returning id, fence`;
  return row;
}

/**
 * Until `callMs` later, no task of the account is claimed. `busy`: a task of it is in work.
 * Undefined: the call began earlier, the check is lost, or publishing was paused.
 */
export async function beginLiveCall(
  tx: TransactionSql,
  { id, fence, ...check }: HeldCheck & Pick<NewLiveCheck, "platform" | "accountId" | "workspaceId">,
  callMs: number,
): Promise<Date | "busy" | undefined> {
  const { platform, accountId, workspaceId } = check;
  // Claims lock the queue of the account too. So each claim has either ended before the next
  // statement, which sees its task, or begins after this transaction and sees the call.
  await tx`
    insert into account_queues (account_id, workspace_id, platform)
    values (${accountId}, ${workspaceId}, ${platform})
    on conflict do nothing`;
  await tx`select 1 from account_queues where account_id = ${accountId} for update`;
  const inWork = await tx`
    select 1
    from publish_tasks
    where account_id = ${accountId}
    and status in ('working', 'calling')
    limit 1`;
  if (inWork.length > 0) return "busy";
  // The condition on `called_at` guarantees that a live check publishes at most one post; the fence
  // guarantees that a process that ends an interrupted check knows whether the check published.
  const [row] = await tx<{ calledAt: Date }[]>`
    update live_checks
    set called_at = now(),
      call_until = now() + ${callMs} * interval '1 millisecond'
    where id = ${id}
    and fence = ${fence}
    and called_at is null
    and ended_at is null
    and platform in (${openPlatforms(tx, [platform])})
    and ${isUnpaused(tx)}
    returning called_at`;
  return row?.calledAt;
}

export async function addLiveCheckStep(
  sql: ISql,
  { id, fence }: HeldCheck,
  step: LiveCheckStep,
): Promise<void> {
  await sql`
    update live_checks
    set steps = steps || ${sql.json([{ ...step }])}
    where id = ${id}
    and fence = ${fence}`;
}

/**
 * Also by a process that has lost the check, which reopens an ended one, so that the post is
 * deleted even if that process ends.
 */
export async function keepLivePost(sql: ISql, id: string, post: LivePost): Promise<void> {
  await sql`
    update live_checks
    set external_id = ${post.externalId},
      permalink = ${post.permalink},
      call_until = null,
      ended_at = null
    where id = ${id}`;
}

export async function dropLivePost(sql: ISql, id: string): Promise<void> {
  await sql`
    update live_checks
    set external_id = null,
      permalink = null
    where id = ${id}`;
}

export async function endLiveCheck(sql: ISql, { id, fence }: HeldCheck): Promise<void> {
  await sql`
    update live_checks
    set ended_at = now()
    where id = ${id}
    and fence = ${fence}`;
}

export async function findLiveCheck(sql: ISql, id: string): Promise<LiveCheckRow | undefined> {
  const [row] = await sql<LiveCheckRow[]>`
    select text, steps, called_at, ended_at, external_id, permalink
    from live_checks
    where id = ${id}`;
  return row;
}
