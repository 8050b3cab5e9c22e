import type { Sql } from "postgres";

/** The targets of a system at one moment, by where they wait. */
export interface Counts {
  /** Seconds since a process was killed last. */
  readonly at: number;
  readonly published: number;
  /** Number of targets that are neither published nor failed, except those that `cutOff` counts. */
  readonly open: number;
  /**
   * Number of targets whose process was probably killed during the publishing call. They wait until the time limit of that call
   * has passed and the platform was searched for the post, however fast other targets are published.
   */
  readonly cutOff: number;
  readonly other: number;
  /** Number of open targets that the delivery service has no task for: their events wait in an outbox or in Kafka. */
  readonly inEvents: number;
  /** Number of tasks that could be claimed now: their accounts are busy, or no worker is free. */
  readonly due: number;
  /** Number of queued tasks that wait for a later time, after a failure or a limit. */
  readonly delayed: number;
  /** Number of tasks in work, also those whose process was killed and whose lease has not ended. */
  readonly working: number;
}

type Row = Omit<Counts, "at" | "open"> & { readonly notEnded: number };

/** Counts the targets of all posts by where they wait. The time of the counts is relative to `since`. */
export async function countTargets(sql: Sql, since = 0): Promise<Counts> {
  const none = {
    published: 0,
    notEnded: 0,
    cutOff: 0,
    other: 0,
    inEvents: 0,
    due: 0,
    delayed: 0,
    working: 0,
  };
  const [row = none] = await sql<Row[]>`
    select
      (count(*) filter (where status = 'published'))::int as published,
      (count(*) filter (where status in ('pending', 'publishing')))::int as "notEnded",
      (count(*) filter (where status not in ('published', 'pending', 'publishing')))::int as other,
      (
        select count(*)::int
        from posts.targets n
        where n.status in ('pending', 'publishing')
        and not exists (
          select 1
          from delivery.publish_tasks t
          where t.target_id = n.id
        )
      ) as "inEvents",
      (select count(*)::int from delivery.publish_tasks where status = 'queued' and wake_at <= now()) as due,
      (select count(*)::int from delivery.publish_tasks where status = 'queued' and wake_at > now()) as delayed,
      (select count(*)::int from delivery.publish_tasks where status in ('working', 'calling')) as working,
      (
        select count(*)::int
        from delivery.publish_tasks
        where status in ('unknown', 'reconciling')
        or status = 'calling' and called_at < now() - interval '5 seconds'
      ) as "cutOff"
    from posts.targets`;
  const at = (performance.now() - since) / 1000;
  return { at, ...row, open: Math.max(0, row.notEnded - row.cutOff) };
}
