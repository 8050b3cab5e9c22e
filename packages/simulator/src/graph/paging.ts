import { refuseParameter } from "#src/graph/errors.ts";
import type { GraphParameters } from "#src/graph/parameters.ts";
import type { Call } from "#src/http/call.ts";

/** Paging parameters that every list of the Graph API accepts. */
export const PAGING: readonly string[] = ["limit", "after"];

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;

/**
 * One page of a Graph API list. `paging` contains the page's cursors and the link to the next page.
 */
export interface GraphPage<T> {
  readonly items: readonly T[];
  readonly paging: Readonly<Record<string, unknown>>;
}

function cursorOf(id: string): string {
  return Buffer.from(id).toString("base64url");
}

function limitOf(parameters: GraphParameters, maxLimit: number): number {
  const limit = parameters.has("limit") ? parameters.number("limit") : DEFAULT_LIMIT;
  return limit < 1 || limit > maxLimit ? refuseParameter("Param limit is out of range.") : limit;
}

/**
 * Index of the first item on the requested page of a Graph API list. Refuses a cursor whose item no
 * longer exists.
 */
function startOf(parameters: GraphParameters, all: readonly { readonly id: string }[]): number {
  const after = parameters.text("after");
  if (after === "") {
    return 0;
  }
  const index = all.findIndex(({ id }) => cursorOf(id) === after);
  return index === -1 ? refuseParameter("Invalid cursor") : index + 1;
}

/** The page of a Graph API list that the parameters `limit` and `after` select. */
export function pageOf<T extends { readonly id: string }>(
  all: Iterable<T>,
  { call, parameters }: { readonly call: Call; readonly parameters: GraphParameters },
  maxLimit = MAX_LIMIT,
): GraphPage<T> {
  const list = [...all];
  const limit = limitOf(parameters, maxLimit);
  const from = startOf(parameters, list);
  const items = list.slice(from, from + limit);
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) {
    return { items, paging: {} };
  }
  const cursors = { before: cursorOf(first.id), after: cursorOf(last.id) };
  const isMore = from + limit < list.length;
  const next = isMore ? { next: `${call.baseUrl}${call.path}?after=${cursors.after}` } : {};
  return { items, paging: { paging: { cursors, ...next } } };
}
