import { parser } from "@prometheus-io/lezer-promql";
import type { RegisteredMetric } from "../../packages/shared/src/telemetry/metrics.ts";

interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
  /** The labels that the PromQL query requires to have a certain value. */
  readonly equals: Readonly<Record<string, string>>;
}

interface QueryParts {
  readonly selectors: readonly Selector[];
  /** Labels by which the PromQL query groups or joins. */
  readonly groupings: readonly string[];
  readonly increases: readonly Selector[];
}

interface OpenSelector extends Selector {
  metric: string;
  readonly labels: string[];
  readonly equals: Record<string, string>;
}

const EQUALITY = /^(?<label>\w+)\s*=\s*"(?<value>[^"]*)"$/;

/** Grafana replaces this variable with a duration before it sends a query. */
function withoutVariables(query: string): string {
  return query.replaceAll("$__rate_interval", "5m");
}

/** @throws Error if it is not valid PromQL. */
export function parseQuery(query: string): QueryParts {
  const text = withoutVariables(query);
  const selectors: OpenSelector[] = [];
  const increases: Selector[] = [];
  const groupings: string[] = [];
  let isGrouping = false;
  let isIncrease = false;
  parser.parse(text).iterate({
    enter: ({ name, type, from, to }) => {
      const word = text.slice(from, to);
      if (type.isError) throw new Error(`not valid PromQL at ${from}: ${query}`);
      if (name === "GroupingLabels") isGrouping = true;
      if (name === "FunctionIdentifier") isIncrease = word === "increase";
      if (name === "VectorSelector") selectors.push({ metric: "", labels: [], equals: {} });
      const selector = selectors.at(-1);
      if (selector !== undefined) readSelector(selector, name, word);
      if (name === "LabelName" && isGrouping) groupings.push(word);
      else if (name === "LabelName") selector?.labels.push(word);
    },
    leave: ({ name }) => {
      if (name === "GroupingLabels") isGrouping = false;
      const selector = selectors.at(-1);
      if (name === "VectorSelector" && isIncrease && selector !== undefined)
        increases.push(selector);
      if (name === "FunctionCall") isIncrease = false;
    },
  });
  return { selectors, groupings, increases };
}

function readSelector(selector: OpenSelector, name: string, word: string): void {
  if (name === "Identifier") selector.metric = word;
  const { label, value } = EQUALITY.exec(name.endsWith("LabelMatcher") ? word : "")?.groups ?? {};
  if (label !== undefined && value !== undefined) selector.equals[label] = value;
}

/** With the labels that the legend of its panel or the summary of its rule shows. */
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
