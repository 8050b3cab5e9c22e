import type { System } from "../system/system.ts";

/** One try of a target; times in seconds after the target was due. */
interface AttemptTimes {
  readonly startedAt: number;
  readonly calledAt: number | null;
  readonly callUntil: number | null;
  readonly finishedAt: number | null;
  readonly outcome: string | null;
}

/** What happened to a target; times in seconds after it was due. */
interface Timeline {
  readonly platform: string;
  readonly dueMs: number;
  /** When delivery knew of the target. */
  readonly requestedAt: number;
  readonly publishedAt: number;
  readonly claims: number;
  readonly calls: number;
  readonly unknowns: number;
  readonly looks: number;
  readonly resends: number;
  readonly attempts: readonly AttemptTimes[];
}

/** Reads the timelines of the published targets of a workspace. */
export async function listTimelines(
  { sql }: Pick<System, "sql">,
  workspaceId: string,
): Promise<readonly Timeline[]> {
  return await sql<Timeline[]>`
    select t.platform,
      extract(epoch from t.due_at)::float8 * 1000 as "dueMs",
      extract(epoch from t.created_at - t.due_at)::float8 as "requestedAt",
      extract(epoch from t.published_at - t.due_at)::float8 as "publishedAt",
      t.fence::int as claims,
      t.call_number as calls,
      t.unknown_count as unknowns,
      t.looks,
      t.resend_count as resends,
      (
        select jsonb_agg(jsonb_build_object(
          'startedAt', extract(epoch from a.started_at - t.due_at),
          'calledAt', extract(epoch from a.called_at - t.due_at),
          'callUntil', extract(epoch from a.call_until - t.due_at),
          'finishedAt', extract(epoch from a.finished_at - t.due_at),
          'outcome', a.outcome
        ) order by a.number)
        from delivery.publish_attempts a
        where a.target_id = t.target_id
      ) as attempts
    from delivery.publish_tasks t
    where t.workspace_id = ${workspaceId}
    and t.status = 'published'`;
}

function quantiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * 10) / 10;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

/** Seconds of the parts of each timeline, so that the part shows on which targets waited longest. */
function partsOf({ requestedAt, publishedAt, attempts }: Timeline) {
  const first = attempts[0];
  const lost = attempts.filter(({ outcome }) => outcome === "unknown");
  const last = attempts.at(-1);
  return {
    request: requestedAt,
    claim: first === undefined ? 0 : first.startedAt - requestedAt,
    work: last === undefined ? 0 : (last.calledAt ?? last.startedAt) - last.startedAt,
    deadline: Math.max(
      0,
      ...lost.map(({ calledAt, callUntil }) => (callUntil ?? 0) - (calledAt ?? callUntil ?? 0)),
    ),
    afterDeadline:
      lost.length === 0 ? 0 : publishedAt - Math.max(...lost.map((each) => each.callUntil ?? 0)),
  };
}

/** Sums up the timelines, with those of the targets that were published last. */
export function summarize(timelines: readonly Timeline[], lastKillMs: number) {
  const endMs = ({ dueMs, publishedAt }: Timeline) => dueMs + publishedAt * 1_000;
  const parts = timelines.map(partsOf);
  const lastMs = Math.max(...timelines.map(endMs));
  const latest = timelines.toSorted((a, b) => endMs(b) - endMs(a)).slice(0, 20);
  return {
    lastAfterKillSeconds: Math.round((lastMs - lastKillMs) / 100) / 10,
    publishedAfter: quantiles(timelines.map(({ publishedAt }) => publishedAt)),
    request: quantiles(parts.map(({ request }) => request)),
    claim: quantiles(parts.map(({ claim }) => claim)),
    work: quantiles(parts.map(({ work }) => work)),
    deadline: quantiles(parts.map(({ deadline }) => deadline)),
    afterDeadline: quantiles(parts.map(({ afterDeadline }) => afterDeadline)),
    latest: latest.map((timeline) => ({
      ...timeline,
      afterKill: Math.round((endMs(timeline) - lastKillMs) / 100) / 10,
    })),
  };
}
