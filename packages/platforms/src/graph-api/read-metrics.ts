import type { NoAnswer } from "#src/http/call-platform.ts";
import { type JsonObject, list, number, object, text } from "#src/http/platform-answer.ts";
import {
  type CallBudget,
  type MetricsFailure,
  type MetricsReading,
  type MetricsReadings,
  type OnFurtherCall,
  type PostMetrics,
  toMetricsFailure,
} from "#src/metrics/connector.ts";
import type { Caller } from "#src/publishing/caller.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { GraphMeanings } from "./failures.ts";
import { type NodeReading, type NodeReadings, readNodes } from "./read-nodes.ts";

export const MAX_METRICS_POSTS = 25;

/**
 * Meta allows at least 200 calls per hour and account (4,800 in 24 hours, times the number of
 * people who engaged with it: Graph API rate limits, business use cases, 2026). Four readings of 25
 * posts per hour use half of them.
 */
export const METRICS_BUDGET: CallBudget = { scope: "account", calls: 4, windowMs: 3_600_000 };

/**
 * The unit with which a reading began pays for the first `MAX_METRICS_POSTS` posts; each further
 * post uses its part of another unit.
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

export interface MetricsSource {
  readonly counters: string;
  readonly insights: readonly string[];
  readonly own: GraphMeanings;
  readonly toMetrics: (node: JsonObject, insights: ReadonlyMap<string, number>) => PostMetrics;
}

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

export function toPostMetrics(node: JsonObject, { toMetrics }: MetricsSource): MetricsReading {
  return { kind: "metrics", metrics: toMetrics(node, readInsights(node)) };
}

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
 * Without the permission for insights, and for posts without insights, only the counters are read.
 */
export async function readMetrics(
  graph: Caller,
  ids: readonly string[],
  source: MetricsSource,
  onCall: () => void,
): Promise<MetricsReadings | MetricsFailure> {
  const { own } = source;
  const { all, counters } = toFields(source);
  const readFields = (posts: readonly string[], fields: string) =>
    readNodes(graph, { ids: posts, fields, own, onCall });
  const readCounters = (posts: readonly string[]) => readFields(posts, counters);
  let read = await readFields(ids, all);
  if (read.kind === "refused" && read.code === "permission_missing") read = await readCounters(ids);
  if (read.kind === "nodes") read = await addCounters(read.nodes, readCounters);
  if (read.kind !== "nodes") return toMetricsFailure(read);
  return new Map([...read.nodes].map(([id, reading]) => [id, toReading(reading, source)]));
}
