import type { LiveCheckStep, LivePost } from "@postrider/platforms/diagnosis/live/check-context";
import type { PlatformId } from "@postrider/platforms/registry";
import type { ISql } from "@postrider/shared/postgres";
import { isUnpaused, openPlatforms } from "./account-queues.ts";

/** A live check of an account that is about to start. */
export interface NewLiveCheck {
  readonly id: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: PlatformId;
  readonly text: string;
}

/** What a live check has done, and the post that it has on the platform. */
export interface LiveCheckRow {
  readonly text: string;
  readonly steps: readonly LiveCheckStep[];
  readonly calledAt: Date | null;
  readonly endedAt: Date | null;
  readonly externalId: string | null;
  readonly permalink: string | null;
}

/** Records a live check, unless publishing is paused for its platform, account or workspace. Returns whether it did. */
export async function insertLiveCheck(sql: ISql, check: NewLiveCheck): Promise<boolean> {
  const { id, workspaceId, accountId, platform, text } = check;
  const result = await sql`
    insert into live_checks (id, workspace_id, account_id, platform, text)
    select ${id}, workspace_id, account_id, ${platform}, ${text}
    from (values (${workspaceId}::uuid, ${accountId}::uuid)) as c(workspace_id, account_id)
    where ${platform} in (${openPlatforms(sql, [platform])})
    and ${isUnpaused(sql)}`;
  return result.count > 0;
}

/**
 * Records that the publishing call of a live check begins and returns when; undefined if it began before, or if publishing was
 * paused meanwhile.
 */
export async function beginLiveCall(
  sql: ISql,
  id: string,
  platform: PlatformId,
): Promise<Date | undefined> {
  // The condition on `called_at` guarantees that a live check publishes at most one post.
  const [row] = await sql<{ calledAt: Date }[]>`
    update live_checks
    set called_at = now()
    where id = ${id}
    and called_at is null
    and ended_at is null
    and platform in (${openPlatforms(sql, [platform])})
    and ${isUnpaused(sql)}
    returning called_at`;
  return row?.calledAt;
}

export async function addLiveCheckStep(sql: ISql, id: string, step: LiveCheckStep): Promise<void> {
  await sql`
    update live_checks
    set steps = steps || ${sql.json([{ ...step }])}
    where id = ${id}`;
}

/** Records the post that the platform has now; null when it has none. */
export async function updateLivePost(sql: ISql, id: string, post: LivePost | null): Promise<void> {
  await sql`
    update live_checks
    set external_id = ${post?.externalId ?? null},
      permalink = ${post?.permalink ?? null}
    where id = ${id}`;
}

export async function endLiveCheck(sql: ISql, id: string): Promise<void> {
  await sql`
    update live_checks
    set ended_at = now()
    where id = ${id}`;
}

export async function findLiveCheck(sql: ISql, id: string): Promise<LiveCheckRow | undefined> {
  const [row] = await sql<LiveCheckRow[]>`
    select text, steps, called_at, ended_at, external_id, permalink
    from live_checks
    where id = ${id}`;
  return row;
}
