import type { ISql } from "@postrider/shared/postgres";

/** How much of a platform is under way. */
export interface TaskCounts {
  readonly platform: string;
  /** Waiting, and due. */
  readonly due: number;
  readonly working: number;
  /** Called without a known outcome. */
  readonly unknown: number;
  /** When the longest waiting of those that are due became so; null when none is. */
  readonly oldestDueAt: Date | null;
}

/** Counts the tasks that have not come to an end; finished ones are not in the index that is read. */
export async function countTasks(sql: ISql): Promise<readonly TaskCounts[]> {
  return await sql<TaskCounts[]>`
    select platform,
      count(*) filter (where status = 'queued' and wake_at <= now()) as due,
      count(*) filter (where status in ('working', 'calling')) as working,
      count(*) filter (where status in ('unknown', 'reconciling')) as unknown,
      min(wake_at) filter (where status = 'queued' and wake_at <= now()) as oldest_due_at
    from publish_tasks
    where status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
    group by platform`;
}
