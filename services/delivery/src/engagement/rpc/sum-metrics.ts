import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListMetricsHistoryRequest,
  ListMetricsHistoryResponseSchema,
  SumMetricsRequest,
  SumMetricsResponseSchema,
} from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type { MetricsSumsJson } from "@postrider/rest/dashboard/metrics";
import { invalidRequest } from "@postrider/shared/errors";
import { assertIds, isId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { readInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { describeReadings, sumReadings } from "#src/engagement/db/metrics-history.ts";

const DAY_MS = 86_400_000;
const MAX_DAYS = 92;
const DATE = /^2\d{3}-\d{2}-\d{2}$/;

function parseDay(text: string, path: string): Date {
  const at = new Date(`${text}T00:00:00.000Z`);
  const isDate = DATE.test(text) && !Number.isNaN(at.getTime());
  if (!isDate) throw invalidRequest([{ code: "invalid", path }]);
  return at;
}

function parseRange(request: SumMetricsRequest): { readonly from: Date; readonly before: Date } {
  const from = parseDay(request.from, "/from");
  const before = new Date(parseDay(request.to, "/to").getTime() + DAY_MS);
  if (from >= before) throw invalidRequest([{ code: "range_reversed", path: "/from" }]);
  if (before.getTime() - from.getTime() > MAX_DAYS * DAY_MS)
    throw invalidRequest([{ code: "range_too_long", path: "/from", limit: MAX_DAYS }]);
  return { from, before };
}

type Day = MetricsSumsJson["days"][number];

/** Null if no platform gives the counter. */
function totalOf(days: readonly Day[]): MetricsSumsJson["total"] {
  const sum = (name: Exclude<keyof Day, "day" | "publications">): number | null => {
    const known = days.flatMap((day) => day[name] ?? []);
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
  };
  return {
    publications: days.reduce((total, { publications }) => total + publications, 0),
    views: sum("views"),
    impressions: sum("impressions"),
    reach: sum("reach"),
    likes: sum("likes"),
    comments: sum("comments"),
    shares: sum("shares"),
    saves: sum("saves"),
  };
}

export async function sumMetrics(
  { sql }: { readonly sql: Sql },
  request: SumMetricsRequest,
): Promise<MessageInitShape<typeof SumMetricsResponseSchema>> {
  const { workspaceId, accountId, platform } = request;
  assertIds(workspaceId, ...(accountId === undefined ? [] : [accountId]));
  const range = parseRange(request);
  const of = { workspaceId, accountId, platform, ...range };
  const found = await readInTurn(sql, workspaceId, () => sumReadings(sql, of));
  const days = [...found.days];
  const posts = found.posts.map((post) => ({
    ...post,
    publishedAt: new Date(post.publishedAt).toISOString(),
  }));
  const result: MetricsSumsJson = { days, posts, total: totalOf(days), isMore: found.isMore };
  return { json: JSON.stringify(result) };
}

export async function listMetricsHistory(
  { sql }: { readonly sql: Sql },
  { workspaceId, targetIds }: ListMetricsHistoryRequest,
): Promise<MessageInitShape<typeof ListMetricsHistoryResponseSchema>> {
  assertIds(workspaceId);
  const ids = targetIds.filter(isId);
  return {
    json: await readInTurn(sql, workspaceId, () => describeReadings(sql, workspaceId, ids)),
  };
}
