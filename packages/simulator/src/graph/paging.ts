import { refuseParameter } from "#src/graph/errors.ts";
import { type Field, type GraphParameters, parseFields, pick } from "#src/graph/parameters.ts";
import type { Call } from "#src/http/call.ts";

export const PAGING: readonly string[] = ["limit", "after"];

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;

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

/** Refuses a cursor whose item no longer exists. */
function* itemsAfter<T extends { readonly id: string }>(
  all: Iterable<T>,
  after: string,
): Generator<T> {
  const id = Buffer.from(after, "base64url").toString();
  let isFound = after === "";
  for (const item of all) {
    if (isFound) yield item;
    isFound ||= item.id === id;
  }
  if (!isFound) refuseParameter("Invalid cursor");
}

export function pageOf<T extends { readonly id: string }>(
  all: Iterable<T>,
  { call, parameters }: { readonly call: Call; readonly parameters: GraphParameters },
  maxLimit = MAX_LIMIT,
): GraphPage<T> {
  const limit = limitOf(parameters, maxLimit);
  const found = itemsAfter(all, parameters.text("after"))
    .take(limit + 1)
    .toArray();
  const items = found.slice(0, limit);
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) return { items, paging: {} };
  const cursors = { before: cursorOf(first.id), after: cursorOf(last.id) };
  const isMore = found.length > limit;
  const next = isMore ? { next: `${call.baseUrl}${call.path}?after=${cursors.after}` } : {};
  return { items, paging: { paging: { cursors, ...next } } };
}

export function nestedPage(
  all: readonly Readonly<Record<string, unknown>>[],
  { modifiers, fields }: Field,
  defaults: readonly string[],
): unknown {
  if (all.length === 0) return undefined;
  const limit = Number(modifiers.get("limit") ?? DEFAULT_LIMIT);
  const asked = fields.length === 0 ? parseFields(defaults.join(",")) : fields;
  const data = all.slice(0, limit).map((item) => pick(asked, item));
  const after = cursorOf(String(data.at(-1)?.["id"]));
  const next = all.length > limit ? { next: `?after=${after}` } : {};
  return { data, paging: { cursors: { after }, ...next } };
}
