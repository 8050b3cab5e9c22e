import type { RegisteredMetric } from "../../packages/shared/src/telemetry/metrics.ts";
import { parseQuery, type Selector } from "./promql.ts";

/**
 * A PromQL query of a dashboard panel or an alert rule, with the labels that the panel's legend or the rule's summary
 * shows.
 */
export interface Query {
  readonly where: string;
  readonly text: string;
  readonly shown: readonly string[];
}

/** Labels that Prometheus adds to every series when it scrapes a process. */
const SCRAPED = ["instance", "job"];
const HISTOGRAM_SERIES = /_(?:bucket|sum|count)$/;

function findMetric(
  metrics: ReadonlyMap<string, RegisteredMetric>,
  name: string,
): RegisteredMetric | undefined {
  const metric = metrics.get(name);
  if (metric !== undefined) return metric.type === "histogram" ? undefined : metric;
  const base = metrics.get(name.replace(HISTOGRAM_SERIES, ""));
  return base?.type === "histogram" ? base : undefined;
}

function labelsOf(metric: RegisteredMetric): readonly string[] {
  return [...SCRAPED, ...metric.labelNames, ...(metric.type === "histogram" ? ["le"] : [])];
}

function selectorFaults(selector: Selector, metric: RegisteredMetric | undefined): string[] {
  if (metric === undefined) return [`no code registers ${selector.metric}`];
  const known = labelsOf(metric);
  return selector.labels
    .filter((label) => !known.includes(label))
    .map((label) => `${selector.metric} has no label ${label}`);
}

/** Lists the metrics and labels of a PromQL query that the code does not register. */
export function queryFaults(query: Query, registered: readonly RegisteredMetric[]): string[] {
  const metrics = new Map(registered.map((metric) => [metric.name, metric]));
  const { selectors, groupings } = parseQuery(query.text);
  const found = selectors.map(({ metric }) => findMetric(metrics, metric));
  const known = new Set(found.flatMap((metric) => (metric === undefined ? [] : labelsOf(metric))));
  const faults = [
    ...selectors.flatMap((selector, index) => selectorFaults(selector, found[index])),
    ...[...groupings, ...query.shown]
      .filter((label) => !known.has(label))
      .map((label) => `none of its metrics has the label ${label}`),
  ];
  return faults.map((fault) => `${query.where}: ${fault}`);
}
