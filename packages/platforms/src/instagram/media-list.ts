import { isMissing, toStepFailure } from "#src/graph-api/failures.ts";
import { type ListCall, readGraphList } from "#src/graph-api/graph-list.ts";
import { callGraph, type GraphApi } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type JsonObject, text } from "#src/http/platform-answer.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export interface MediaPage {
  readonly kind: "page";
  readonly posts: readonly JsonObject[];
  readonly after: string | undefined;
}

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

interface AnotherPost {
  readonly page: MediaPage;
  readonly ids: readonly string[];
  readonly onCall?: () => void;
}

export async function readAnother(
  api: GraphApi,
  account: AccountAccess,
  { page, ids, onCall }: AnotherPost,
  signal: AbortSignal,
): Promise<{ readonly kind: "shown" } | { readonly kind: "hidden" } | Failure | NoAnswer> {
  const listed = page.posts.flatMap((post) => text(post, "id") ?? []);
  const id = listed.find((each) => !ids.includes(each));
  if (id === undefined) return { kind: "hidden" };
  onCall?.();
  const call = { method: "GET", path: encodeURIComponent(id), query: { fields: "id" } } as const;
  const answer = await callGraph(api, account, call, signal);
  if (answer.kind === "no_answer") return answer;
  if (answer.status === 200) return { kind: "shown" };
  return isMissing(answer) ? { kind: "hidden" } : toStepFailure(answer, MEANINGS);
}
