import { PLATFORM_IDS, type PlatformId } from "@postrider/platforms/platform-id";
import type { ISql } from "@postrider/shared/postgres";
import type { HeldCheck, LiveCheckRow, NewLiveCheck } from "./live-checks.ts";

export interface InterruptedRow extends HeldCheck, Omit<NewLiveCheck, "mediaId"> {
  readonly platform: PlatformId;
  readonly mediaId: string | null;
  readonly steps: LiveCheckRow["steps"];
  readonly calledAt: Date | null;
  readonly externalId: string | null;
  readonly permalink: string | null;
}

export async function renewLiveChecks(
  sql: ISql,
  held: readonly HeldCheck[],
  leaseMs: number,
): Promise<void> {
  if (held.length === 0) return;
  await sql`
    update live_checks c
    set lease_until = now() + ${leaseMs} * interval '1 millisecond'
    from unnest(
      ${held.map(({ id }) => id)}::uuid[],
      ${held.map(({ fence }) => fence)}::integer[]
    ) as h(id, fence)
    where c.id = h.id
    and c.fence = h.fence`;
}

/** Ends the lease now, so that the next process need not wait until it expires. */
export async function releaseLiveCheck(sql: ISql, { id, fence }: HeldCheck): Promise<void> {
  await sql`
    update live_checks
    set lease_until = now()
    where id = ${id}
    and fence = ${fence}`;
}

export async function claimInterruptedChecks(
  sql: ISql,
  { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number },
): Promise<readonly InterruptedRow[]> {
  // `skip locked` guarantees that two processes do not claim one live check. The raised fence
  // guarantees that the process which held the check before this claim cannot begin its publishing
  // call any more.
  return await sql<InterruptedRow[]>`
    update live_checks
    set fence = fence + 1,
      lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where id in (
      select id
      from live_checks
      where ended_at is null
      and lease_until <= now()
      and platform = any(${[...PLATFORM_IDS]})
      order by lease_until
      limit ${limit}
      for update skip locked
    )
    returning id, fence, workspace_id, account_id, platform, text, media_id, steps, external_id, permalink,
      -- A restore may have lost the record of the call and of its post. The check then counts as called since it started.
      coalesce(called_at, (select started_at from deployment where restored_at >= started_at)) as called_at`;
}

export async function deleteOldLiveChecks(
  sql: ISql,
  { limit, days }: { readonly limit: number; readonly days: number },
): Promise<number> {
  const deleted = await sql`
    delete from live_checks
    where id in (
      select id
      from live_checks
      where ended_at < now() - ${days} * interval '1 day'
      order by ended_at
      limit ${limit}
    )`;
  return deleted.count;
}
