import { list, object, text } from "#src/http/platform-answer.ts";
import {
  type MetricsConnector,
  type MetricsFailure,
  type MetricsReading,
  type MetricsReadings,
  toMetrics,
  toMetricsFailure,
} from "#src/metrics/connector.ts";
import {
  ask,
  type Caller,
  forAccounts,
  openAt,
  type PlatformAddress,
} from "#src/publishing/caller.ts";
import { findRejection } from "#src/youtube/publishing/complete-video.ts";
import { toStepFailure } from "#src/youtube/publishing/failures.ts";

/** YouTube's limit (`videos.list`). */
const MAX_POSTS = 50;

/**
 * A project has 10,000 units a day for everything except uploads, and a call costs one unit (quota
 * page, 2026-09-11), whatever its parts. The call budget for metrics allows at most 2,400 units a
 * day.
 */
const BUDGET = { scope: "app", calls: 100, windowMs: 3_600_000 } as const;

/**
 * Returns a counter, which YouTube sends as text; null when the owner hides it or has turned off
 * comments.
 */
function countOf(statistics: unknown, name: string): number | null {
  const value = text(statistics, name) ?? "";
  return /^\d+$/.test(value) ? Number(value) : null;
}

function toReading(video: unknown): MetricsReading {
  const statistics = object(video, "statistics");
  const metrics = toMetrics({
    views: countOf(statistics, "viewCount"),
    likes: countOf(statistics, "likeCount"),
    comments: countOf(statistics, "commentCount"),
  });
  const caveat = findRejection(object(video, "status"));
  return { kind: "metrics", metrics, ...(caveat === undefined ? {} : { caveat }) };
}

async function readMetrics(
  youtube: Caller,
  ids: readonly string[],
): Promise<MetricsReadings | MetricsFailure> {
  const query = { part: "statistics,status", id: ids.join(",") };
  const answer = await ask(youtube, { path: "youtube/v3/videos", query });
  if (answer.kind === "no_answer") return toMetricsFailure(answer);
  if (answer.status !== 200 || !Array.isArray(answer.json?.items))
    return toMetricsFailure(toStepFailure(answer));
  const videos = new Map(list(answer.json, "items").map((video) => [text(video, "id"), video]));
  return new Map(
    ids.map((id) => [id, videos.has(id) ? toReading(videos.get(id)) : { kind: "missing" }]),
  );
}

export function createYoutubeMetricsConnector({ baseUrl }: PlatformAddress): MetricsConnector {
  return {
    platform: "youtube",
    maxPosts: MAX_POSTS,
    budget: BUDGET,
    ...forAccounts(openAt(baseUrl), { readMetrics }),
  };
}
