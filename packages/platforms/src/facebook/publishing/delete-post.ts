import { callGraph } from "#src/graph-api/call-graph.ts";
import { isMissing, toVisibleFailure } from "#src/graph-api/failures.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { DeletionOutcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { MEANINGS } from "./error-meanings.ts";

/**
 * Facebook gives the same answer when the post no longer exists and when the token has no access to
 * it.
 */
export async function deletePost(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const path = encodeURIComponent(id);
  const answer = await callGraph(api, account, { method: "DELETE", path }, signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 200 && answer.json?.success === true) return { kind: "deleted" };
  if (!isMissing(answer)) return toVisibleFailure(answer, MEANINGS);
  const query = { fields: "id" };
  const look = await callGraph(api, account, { method: "GET", path, query }, signal);
  const isGone = look.kind === "answer" && isMissing(look);
  return isGone
    ? { kind: "deleted" }
    : { kind: "unknown", message: "Facebook does not say whether the post exists" };
}
