import { parser } from "@prometheus-io/lezer-promql";

/** A metric that a query asks for, and the labels that it is narrowed down by. */
export interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** What a query refers to. */
export interface QueryParts {
  readonly selectors: readonly Selector[];
  /** Labels that it groups or joins by. */
  readonly groupings: readonly string[];
}

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
  const selectors: { metric: string; labels: string[] }[] = [];
  const groupings: string[] = [];
  let isGrouping = false;
  parser.parse(text).iterate({
    enter: ({ name, type, from, to }) => {
      const word = text.slice(from, to);
      if (type.isError) throw new Error(`no PromQL at ${from}: ${query}`);
      if (name === "GroupingLabels") isGrouping = true;
      if (name === "VectorSelector") selectors.push({ metric: "", labels: [] });
      const selector = selectors.at(-1);
      if (name === "Identifier" && selector !== undefined) selector.metric = word;
      if (name === "LabelName" && isGrouping) groupings.push(word);
      else if (name === "LabelName") selector?.labels.push(word);
    },
    leave: ({ name }) => {
      if (name === "GroupingLabels") isGrouping = false;
    },
  });
  return { selectors, groupings };
}
