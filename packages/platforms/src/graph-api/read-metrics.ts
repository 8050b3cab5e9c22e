import type { NoAnswer } from "#src/http/call-platform.ts";
import { type JsonObject, list, number, object, text } from "#src/http/platform-answer.ts";
import type {
  CallBudget,
  MetricsFailure,
  MetricsReading,
  OnFurtherCall,
  PostMetrics,
} from "#src/metrics/connector.ts";
import { toMetricsFailure } from "#src/metrics/to-metrics-failure.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { GraphMeanings } from "./failures.ts";
import type { GraphApi } from "./graph-request.ts";
import { type NodeReading, type NodeReadings, readNodes } from "./read-nodes.ts";

/** Maximum number of posts whose metrics are read together. Each post takes a call of its own. */
export const MAX_METRICS_POSTS = 25;

/**
 * Per account, Meta allows at least 200 calls per hour (4,800 in 24 hours, times the number of people who engaged with
 * the account: Graph API rate limits, business use cases, 2026). The call budget for metrics, four readings of 25
 * posts per hour, uses half of these 200 calls.
 */
export const METRICS_BUDGET: CallBudget = { scope: "account", calls: 4, windowMs: 3_600_000 };

/**
 * Returns a function that is called before each platform call of one reading, with the number of posts in the call. It
 * reports every call except the first, with the units of the call budget that it uses: the unit with which the reading
 * began pays for the first `MAX_METRICS_POSTS` posts, and each further post uses its part of another unit.
 */
export function countFurtherCalls(onFurtherCall?: OnFurtherCall): (posts?: number) => void {
  let read = 0;
  return (posts = 1) => {
    const isFirst = read === 0;
    const before = Math.max(read, MAX_METRICS_POSTS);
    read += posts;
    if (!isFirst) onFurtherCall?.(Math.max(0, read - before) / MAX_METRICS_POSTS);
  };
}

/** What Facebook and Instagram each define for reading the metrics of posts. */
export interface MetricsSource {
  /** Fields with counters that need no permission for insights, for example the number of likes. */
  readonly counters: string;
  /** Names of the insights that every post has. */
  readonly insights: readonly string[];
  readonly own: GraphMeanings;
  readonly toMetrics: (node: JsonObject, insights: ReadonlyMap<string, number>) => PostMetrics;
}

/** Returns the insights in the Graph API's answer about a post: their values by name. */
function readInsights(node: JsonObject): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const entry of list(object(node, "insights"), "data")) {
    const [first] = list(entry, "values");
    const value = number(first, "value");
    const name = text(entry, "name");
    if (name !== undefined && value !== undefined) values.set(name, value);
  }
  return values;
}

/** Converts a post of the Graph API with its counters, and its insights if they were asked for. */
export function toPostMetrics(node: JsonObject, { toMetrics }: MetricsSource): MetricsReading {
  return { kind: "metrics", metrics: toMetrics(node, readInsights(node)) };
}

/** The parameter `fields` for all metrics of a post, and for those that need no permission for insights. */
export function toFields({ counters, insights }: MetricsSource): {
  readonly all: string;
  readonly counters: string;
} {
  const wanted = insights.length === 0 ? "" : `,insights.metric(${insights.join(",")})`;
  return { all: `id,${counters}${wanted}`, counters: `id,${counters}` };
}

function toReading(reading: NodeReading, source: MetricsSource): MetricsReading {
  switch (reading.kind) {
    case "node":
      return toPostMetrics(reading.node, source);
    case "missing":
      return reading;
    case "refused":
      return { kind: "refused", code: reading.code, message: reading.message };
  }
}

/** Reads the counters of the posts whose insights were refused, for example because they are too old for insights. */
async function addCounters(
  nodes: ReadonlyMap<string, NodeReading>,
  readCounters: (ids: readonly string[]) => Promise<NodeReadings | Failure | NoAnswer>,
): Promise<NodeReadings | Failure | NoAnswer> {
  const refused = [...nodes].filter(([, { kind }]) => kind === "refused").map(([id]) => id);
  if (refused.length === 0) return { kind: "nodes", nodes };
  const read = await readCounters(refused);
  return read.kind === "nodes"
    ? { kind: "nodes", nodes: new Map([...nodes, ...read.nodes]) }
    : read;
}

/**
 * Reads counters and insights of posts, one call per post. Without the permission for insights, and for posts without
 * insights, only the counters are read.
 */
export async function readMetrics(
  api: GraphApi,
  account: AccountAccess,
  {
    ids,
    source,
    onCall,
  }: {
    readonly ids: readonly string[];
    readonly source: MetricsSource;
    /** Function that is called before each platform call. */
    readonly onCall: () => void;
  },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, MetricsReading> | MetricsFailure> {
  const { own } = source;
  const { all, counters } = toFields(source);
  const readFields = (posts: readonly string[], fields: string) =>
    readNodes(api, account, { ids: posts, fields, own, onCall }, signal);
  const readCounters = (posts: readonly string[]) => readFields(posts, counters);
  let read = await readFields(ids, all);
  if (read.kind === "refused" && read.code === "permission_missing") read = await readCounters(ids);
  if (read.kind === "nodes") read = await addCounters(read.nodes, readCounters);
  if (read.kind !== "nodes") return toMetricsFailure(read);
  return new Map([...read.nodes].map(([id, reading]) => [id, toReading(reading, source)]));
}
