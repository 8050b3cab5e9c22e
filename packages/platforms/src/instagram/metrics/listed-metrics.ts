import { callGraph } from "#src/graph-api/call-graph.ts";
import { isMissing, toStepFailure } from "#src/graph-api/failures.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import {
  MAX_METRICS_POSTS,
  type MetricsSource,
  toFields,
  toPostMetrics,
} from "#src/graph-api/read-metrics.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { list, object, text, type JsonObject } from "#src/http/platform-answer.ts";
import type { MetricsFailure, MetricsReading } from "#src/metrics/connector.ts";
import { toMetricsFailure } from "#src/metrics/to-metrics-failure.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

/** Maximum number of pages of posts that are read: all posts of a week at 50 posts a day, the time in which metrics are refreshed. */
const MAX_PAGES = 14;

const TOO_OLD: MetricsReading = {
  kind: "refused",
  code: "permission_missing",
  message:
    "Instagram refuses the token of the Page to read single posts (error 100/33), and the post is not among the newest posts of the account",
};

interface Query {
  readonly ids: readonly string[];
  readonly source: MetricsSource;
  /** Called before each call, with the number of posts for which it asks. */
  readonly onCall: (posts: number) => void;
}

/** A page of the account's posts, newest first. */
interface Page {
  readonly kind: "page";
  readonly posts: readonly JsonObject[];
  /** Cursor of the next page; undefined after the last one. */
  readonly after: string | undefined;
}

async function readPage(
  api: GraphApi,
  account: AccountAccess,
  query: Readonly<Record<string, string>>,
  { source, onCall }: Query,
  signal: AbortSignal,
): Promise<Page | Failure | NoAnswer> {
  const path = `${encodeURIComponent(account.externalId)}/media`;
  onCall(MAX_METRICS_POSTS);
  const answer = await callGraph(api, account, { method: "GET", path, query }, signal);
  if (answer.kind === "no_answer") return answer;
  if (answer.status !== 200) return toStepFailure(answer, source.own);
  if (!Array.isArray(answer.json?.data)) return platformUnavailable("the list is unreadable");
  const paging = object(answer.json, "paging");
  const isLast = text(paging, "next") === undefined;
  const after = isLast ? undefined : text(object(paging, "cursors"), "after");
  return { kind: "page", posts: list(answer.json, "data") as JsonObject[], after };
}

/** Reads a page with insights, or without them if Instagram refuses the insights of one of its posts or of all. */
async function readPageWithInsights(
  api: GraphApi,
  account: AccountAccess,
  after: string | undefined,
  query: Query,
  signal: AbortSignal,
): Promise<Page | Failure | NoAnswer> {
  const { all, counters } = toFields(query.source);
  const limit = String(MAX_METRICS_POSTS);
  const place = after === undefined ? { limit } : { limit, after };
  const page = await readPage(api, account, { fields: all, ...place }, query, signal);
  return page.kind === "refused"
    ? await readPage(api, account, { fields: counters, ...place }, query, signal)
    : page;
}

/** Whether Instagram says of a post that it has just listed that it does not exist or is not accessible. */
async function isReadRefused(
  api: GraphApi,
  account: AccountAccess,
  { posts: [first] }: Page,
  { onCall }: Query,
  signal: AbortSignal,
): Promise<boolean> {
  const id = text(first, "id");
  if (id === undefined) return false;
  onCall(1);
  const call = { method: "GET", path: encodeURIComponent(id), query: { fields: "id" } } as const;
  const answer = await callGraph(api, account, call, signal);
  return answer.kind !== "no_answer" && isMissing(answer);
}

/** The metrics of those of the posts that the page has. */
function pickMetrics(
  { posts }: Page,
  { ids, source }: Query,
): readonly (readonly [string, MetricsReading])[] {
  return posts.flatMap((post) => {
    const id = text(post, "id") ?? "";
    return ids.includes(id) ? [[id, toPostMetrics(post, source)] as const] : [];
  });
}

/**
 * Reads the metrics of posts, which Instagram says it does not find, from the list of the account's posts.
 *
 * Since 2026-05-23, Instagram refuses some Page tokens the reading of single posts as if they did not exist (error 100/33), while
 * it still lists them with the same fields. Source: github.com/gitroomhq/postiz-app/issues/1562 and
 * github.com/geoff-maddock/events-tracker/issues/1900. Posts are missing only if a listed post can be read alone, or if the whole
 * list does not have them.
 */
export async function readListedMetrics(
  api: GraphApi,
  account: AccountAccess,
  query: Query,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, MetricsReading> | MetricsFailure> {
  const { ids } = query;
  const found = new Map<string, MetricsReading>();
  const fill = (rest: MetricsReading) => new Map(ids.map((id) => [id, found.get(id) ?? rest]));
  let after: string | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const page = await readPageWithInsights(api, account, after, query, signal);
    if (page.kind !== "page") return toMetricsFailure(page);
    for (const [id, reading] of pickMetrics(page, query)) found.set(id, reading);
    const isOver = ids.every((id) => found.has(id)) || page.after === undefined;
    const isUnproved = count === 0 && found.size === 0;
    if (isOver || (isUnproved && !(await isReadRefused(api, account, page, query, signal))))
      return fill({ kind: "missing" });
    ({ after } = page);
  }
  return fill(TOO_OLD);
}
