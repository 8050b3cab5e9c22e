import { callGraph } from "#src/graph-api/call-graph.ts";
import { isMissing, toStepFailure } from "#src/graph-api/failures.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { list, object, text, type JsonObject } from "#src/http/platform-answer.ts";
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

/** Reads a page of an Instagram account's posts, with the fields and from the cursor that `query` names. */
export async function readMediaPage(
  api: GraphApi,
  account: AccountAccess,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<MediaPage | Failure | NoAnswer> {
  const path = `${encodeURIComponent(account.externalId)}/media`;
  const answer = await callGraph(api, account, { method: "GET", path, query }, signal);
  if (answer.kind === "no_answer") return answer;
  if (answer.status !== 200) return toStepFailure(answer, MEANINGS);
  if (!Array.isArray(answer.json?.data)) return platformUnavailable("the list is unreadable");
  const paging = object(answer.json, "paging");
  const isLast = text(paging, "next") === undefined;
  const after = isLast ? undefined : text(object(paging, "cursors"), "after");
  return { kind: "page", posts: list(answer.json, "data") as JsonObject[], after };
}

/** The answer of Instagram to the reading of a listed post alone. */
export type ReadAlone = { readonly kind: "shown" } | { readonly kind: "hidden" };

/**
 * Whether Instagram shows a listed post when it is read alone: `hidden` = it says that the post does not exist or is not accessible,
 * so the same answer about another post does not prove that the other post does not exist.
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
