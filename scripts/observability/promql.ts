import { parser } from "@prometheus-io/lezer-promql";

/** A metric that a query asks for, and the labels that it is narrowed down by. */
export interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
  /** Those of the labels that have to have one value. */
  readonly equals: Readonly<Record<string, string>>;
}

/** What a query refers to. */
export interface QueryParts {
  readonly selectors: readonly Selector[];
  /** Labels that it groups or joins by. */
  readonly groupings: readonly string[];
  /** What it asks for the increase of. */
  readonly increases: readonly Selector[];
}

interface OpenSelector extends Selector {
  metric: string;
  readonly labels: string[];
  readonly equals: Record<string, string>;
}

const EQUALITY = /^(?<label>\w+)\s*=\s*"(?<value>[^"]*)"$/;

/** Grafana puts a duration there before it asks. */
function withoutVariables(query: string): string {
  return query.replaceAll("$__rate_interval", "5m");
}

/**
 * Takes a query apart.
 *
 * @throws When it is no PromQL.
 */
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
      if (type.isError) throw new Error(`no PromQL at ${from}: ${query}`);
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
