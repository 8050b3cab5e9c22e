import { list, text } from "#src/http/platform-answer.ts";
import {
  type MetricsConnector,
  type MetricsFailure,
  type MetricsReading,
  type MetricsReadings,
  sumOf,
  toMetrics,
  toMetricsFailure,
} from "#src/metrics/connector.ts";
import { type Caller, forAccounts, openAt, type PlatformAddress } from "#src/publishing/caller.ts";
import { askTiktok, dataOf } from "#src/tiktok/publishing/calls.ts";
import { toStepFailure } from "#src/tiktok/publishing/failures.ts";

/** TikTok's limit (`video/query`). */
const MAX_POSTS = 20;

/**
 * The call budget for metrics: a fifth of TikTok's limit of 600 calls a minute
 * (developers.tiktok.com/doc/tiktok-api-v2-rate-limit, 2026-08-04). The page does not say whether
 * the limit is for one user or the whole app, so it is assumed for the whole app.
 */
const BUDGET = { scope: "app", calls: 120, windowMs: 60_000 } as const;

const FIELDS = "id,view_count,like_count,comment_count,share_count";

function toReading(video: unknown): MetricsReading {
  const metrics = toMetrics({
    views: sumOf(video, "view_count"),
    likes: sumOf(video, "like_count"),
    comments: sumOf(video, "comment_count"),
    shares: sumOf(video, "share_count"),
  });
  return { kind: "metrics", metrics };
}

/**
 * TikTok answers about public posts only, and gives a post its id when the post becomes public. A
 * post that is missing in the answer was therefore deleted or made private.
 */
async function readMetrics(
  tiktok: Caller,
  ids: readonly string[],
): Promise<MetricsReadings | MetricsFailure> {
  const body = { filters: { video_ids: ids } };
  const answer = await askTiktok(tiktok, `video/query/?fields=${FIELDS}`, body);
  if (answer.kind === "no_answer") return toMetricsFailure(answer);
  const data = dataOf(answer);
  if (!Array.isArray(data?.videos)) return toMetricsFailure(toStepFailure(answer));
  const videos = new Map(list(data, "videos").map((video) => [text(video, "id"), video]));
  return new Map(
    ids.map((id) => [id, videos.has(id) ? toReading(videos.get(id)) : { kind: "missing" }]),
  );
}

export function createTiktokMetricsConnector({ baseUrl }: PlatformAddress): MetricsConnector {
  return {
    platform: "tiktok",
    maxPosts: MAX_POSTS,
    budget: BUDGET,
    ...forAccounts(openAt(baseUrl), { readMetrics }),
  };
}
