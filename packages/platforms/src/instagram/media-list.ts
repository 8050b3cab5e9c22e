import { callGraph } from "#src/graph-api/call-graph.ts";
import { isMissing, toStepFailure } from "#src/graph-api/failures.ts";
import { type ListCall, readGraphList } from "#src/graph-api/graph-list.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import type { JsonObject } from "#src/http/platform-answer.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

/** A page of an Instagram account's posts, newest first. */
export interface MediaPage {
  readonly kind: "page";
  readonly posts: readonly JsonObject[];
  /** Cursor of the next page; undefined after the last one. */
  readonly after: string | undefined;
}

/** Reads a page of an Instagram account's posts. */
export async function readMediaPage(
  api: GraphApi,
  account: AccountAccess,
  { fields, ...place }: Omit<ListCall, "path" | "query"> & { readonly fields: string },
  signal: AbortSignal,
): Promise<MediaPage | Failure | NoAnswer> {
  const path = `${encodeURIComponent(account.externalId)}/media`;
  const read = await readGraphList(api, account, { path, query: { fields }, ...place }, signal);
  if (read.kind === "no_answer") return read;
  if (read.kind === "list")
    return { kind: "page", posts: read.entries as JsonObject[], after: read.next };
  return read.status === 200
    ? platformUnavailable("the list is unreadable")
    : toStepFailure(read, MEANINGS);
}

/** What Instagram answers when a post from its list of posts is read by its id. */
export type ReadAlone = { readonly kind: "shown" } | { readonly kind: "hidden" };

/**
 * Whether Instagram shows a post from its list of posts when the post is read by its id: `hidden` = Instagram says that
 * the post does not exist or is not accessible, so the same answer about another post does not prove that the other
 * post does not exist.
 */
export async function readListedAlone(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<ReadAlone | Failure | NoAnswer> {
  const call = { method: "GET", path: encodeURIComponent(id), query: { fields: "id" } } as const;
  const answer = await callGraph(api, account, call, signal);
  if (answer.kind === "no_answer") return answer;
  if (answer.status === 200) return { kind: "shown" };
  return isMissing(answer) ? { kind: "hidden" } : toStepFailure(answer, MEANINGS);
}
