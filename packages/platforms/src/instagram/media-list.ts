import { isMissing, toStepFailure } from "#src/graph-api/failures.ts";
import { edgeOf, type ListCall, readGraphList } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type JsonObject, text } from "#src/http/platform-answer.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";

export interface MediaPage {
  readonly kind: "page";
  readonly posts: readonly JsonObject[];
  readonly after: string | undefined;
}

export async function readMediaPage(
  graph: Caller,
  { fields, ...place }: Omit<ListCall, "path" | "query"> & { readonly fields: string },
): Promise<MediaPage | Failure | NoAnswer> {
  const path = edgeOf(graph.account, "media");
  const read = await readGraphList(graph, { path, query: { fields }, ...place });
  if (read.kind === "no_answer") return read;
  if (read.kind === "list" && read.next !== null)
    return { kind: "page", posts: read.entries as JsonObject[], after: read.next };
  return read.kind === "list" || read.status === 200
    ? platformUnavailable("the list is unreadable")
    : toStepFailure(read, MEANINGS);
}

export async function readAnother(
  graph: Caller,
  page: MediaPage,
  ids: readonly string[],
  onCall?: () => void,
): Promise<{ readonly kind: "shown" } | { readonly kind: "hidden" } | Failure | NoAnswer> {
  const listed = page.posts.flatMap((post) => text(post, "id") ?? []);
  const id = listed.find((each) => !ids.includes(each));
  if (id === undefined) return { kind: "hidden" };
  onCall?.();
  const answer = await ask(graph, { path: encodeURIComponent(id), query: { fields: "id" } });
  if (answer.kind === "no_answer") return answer;
  if (answer.status === 200) return { kind: "shown" };
  return isMissing(answer) ? { kind: "hidden" } : toStepFailure(answer, MEANINGS);
}
