import { invalidRequest } from "@postrider/shared/errors";
import {
  requireCursor,
  encodeCursor,
  type CursorKeys,
} from "@postrider/shared/secrets/list-cursor";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/**
 * The lists that use these cursors are ordered by id only, but a cursor carries a time and an id.
 * So every such cursor contains this constant time.
 */
const NO_TIME = new Date(0);

/** The page of a list that a request asks for. */
interface RequestedPage {
  readonly limit: number;
  /** Id of the last item of the previous page; undefined for the first page. */
  readonly before: string | undefined;
}

/**
 * Parses the limit and the cursor of a request for a list. A cursor is valid only for the scope for
 * which it was made: the list, the workspace and the filters.
 */
export function parsePage(
  keys: CursorKeys,
  scope: readonly string[],
  { limit, cursor }: { readonly limit: number; readonly cursor: string },
): RequestedPage {
  if (limit < 0 || limit > MAX_LIMIT) throw invalidRequest([{ code: "invalid", path: "/limit" }]);
  const size = limit === 0 ? DEFAULT_LIMIT : limit;
  if (cursor === "") return { limit: size, before: undefined };
  return { limit: size, before: requireCursor(keys, scope, cursor).id };
}

/** `rows`: one beyond the page shows that another page follows. */
export function toPage<T extends { readonly id: string }>(
  keys: CursorKeys,
  scope: readonly string[],
  { limit }: RequestedPage,
  rows: readonly T[],
): { readonly shown: readonly T[]; readonly next: { readonly nextCursor?: string } } {
  const shown = rows.slice(0, limit);
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  return { shown, next: last === undefined ? {} : { nextCursor: toCursor(keys, scope, last.id) } };
}

/** Returns the cursor of the page that follows the item with this id. */
export function toCursor(keys: CursorKeys, scope: readonly string[], id: string): string {
  return encodeCursor(keys, scope, { at: NO_TIME, id });
}
