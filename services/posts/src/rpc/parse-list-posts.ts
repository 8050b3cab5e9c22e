import type { ListPostsRequest } from "@postrider/contracts/posts/v1/post_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { ListFilter } from "#src/db/post-summaries.ts";
import { isPostStatus } from "#src/domain/post-status.ts";

const MAX_LIMIT = 100;
const DAY_MS = 86_400_000;
const LAST_YEAR = 9999;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const CREATED_VIA = new Set(["rest", "mcp", "dashboard"]);

/** Parses the filters of a ListPosts request. The error for an invalid request lists every invalid filter. */
export function parseListPosts(request: ListPostsRequest): ListFilter {
  const faults: string[] = [];
  /**
   * Reads one filter of the request. Returns undefined for an absent filter, and for an invalid filter, which is also added to
   * the list of invalid values.
   */
  const read = <T>(
    path: string,
    text: string | undefined,
    parse: (text: string) => T | undefined,
  ) => {
    const value = text === undefined ? undefined : parse(text);
    if (text !== undefined && value === undefined) faults.push(path);
    return value;
  };
  if (!isId(request.workspaceId)) faults.push("/workspaceId");
  if (request.limit < 1 || request.limit > MAX_LIMIT) faults.push("/limit");
  const status = read("/status", request.status, (text) => (isPostStatus(text) ? text : undefined));
  const platform = read("/platform", request.platform, (text) =>
    isPlatformId(text) ? text : undefined,
  );
  const createdVia = read("/createdVia", request.createdVia, (text) =>
    CREATED_VIA.has(text) ? text : undefined,
  );
  const from = read("/from", request.from, parseDate);
  const to = read("/to", request.to, parseDate);
  if (faults.length > 0) throw invalidRequest(faults.map((path) => ({ code: "invalid", path })));
  if (from !== undefined && to !== undefined && from > to)
    throw invalidRequest([{ code: "range_reversed", path: "/from" }]);
  return { status, platform, createdVia, from, before: to && endOf(to) };
}

/**
 * Returns the first instant after a UTC date; undefined after 9999-12-31, because Postgres does not accept the year
 * 10000 as JavaScript writes it, and no post is later.
 */
function endOf(date: Date): Date | undefined {
  const end = new Date(date.getTime() + DAY_MS);
  return end.getUTCFullYear() > LAST_YEAR ? undefined : end;
}

/**
 * Returns the first instant of a UTC date; undefined for a text that is not a date. The year 0 does not count as a
 * date, because Postgres does not have it.
 */
function parseDate(text: string): Date | undefined {
  if (!DATE.test(text) || text.startsWith("0000")) return undefined;
  const at = new Date(`${text}T00:00:00.000Z`);
  const isDate = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(`${text}T`);
  return isDate ? at : undefined;
}
