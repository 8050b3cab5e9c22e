import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/**
 * A limit of our app at a platform that is used up until an instant, and the answer of the platform
 * that said so. It holds publishing only: such a limit may count nothing else (YouTube's video
 * uploads), so comments and metrics are still sent. Where it counts them too (X's posts in 24 hours
 * count replies), the platform definitely refuses the call, and only its account waits.
 */
export interface PlatformLimit {
  readonly platform: string;
  readonly until: Date;
  readonly code: string;
  readonly message: string;
}

/** The used-up limit of our app at the platform of task `t`, as JSON; null if there is none. */
export function limitOfPlatform(sql: ISql) {
  return sql`
    (
      select jsonb_build_object(
        'code', l.code, 'message', l.message,
        'waitMs', ceil(extract(epoch from l.until - now()) * 1000)
      )
      from platform_limits l
      where l.platform = t.platform
      and l.until > now()
    )`;
}

/** A later instant stays. Written in the order of the platforms, against deadlocks. */
export async function storePlatformLimits(
  tx: TransactionSql,
  limits: readonly PlatformLimit[],
): Promise<void> {
  const rows = limits.map((limit) => ({ ...limit, until: limit.until.toISOString() }));
  await tx`
    insert into platform_limits as p (platform, until, code, message)
    select distinct on (platform) platform, until, code, message
    from jsonb_to_recordset(${tx.json(rows)}) as k(platform text, until timestamptz, code text, message text)
    order by platform, until desc
    on conflict (platform) do update
    set until = excluded.until,
      code = excluded.code,
      message = excluded.message
    where p.until < excluded.until`;
}
