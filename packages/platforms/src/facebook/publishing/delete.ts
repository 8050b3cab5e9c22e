import { isMissing, toVisibleFailure } from "#src/graph/failures.ts";
import type { GraphApi } from "#src/graph/graph-call.ts";
import type { AccountAccess, DeletionOutcome } from "#src/publishing/connector.ts";
import { callGraph } from "./context.ts";
import { MEANINGS } from "./meanings.ts";

/** `DELETE /{id}` of a post or a video (platforms reference 3.3). One that is gone and one that is not ours read alike. */
export async function deleteObject(
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
    : { kind: "unknown", message: "Facebook does not say whether it is there" };
}
