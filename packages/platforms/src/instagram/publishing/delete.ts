import { isMissing } from "#src/graph/failures.ts";
import { toGraphRequest, type GraphApi } from "#src/graph/graph-call.ts";
import { readGraphError } from "#src/graph/graph-error.ts";
import { callPlatform } from "#src/http/http.ts";
import type { AccountAccess, DeletionOutcome } from "#src/publishing/connector.ts";
import { toInstagramFailure } from "./meanings.ts";

const MEDIA_NOT_FOUND = 24;

/**
 * Not there and not for us is the same to the Graph API, and it says so by mistake too: only if the post cannot be read
 * either, it is gone.
 */
async function confirmGone(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const query = { fields: "id" };
  const call = { method: "GET", path: encodeURIComponent(id), query } as const;
  const answer = await callPlatform(toGraphRequest(api, account, call), signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (isMissing(answer)) return { kind: "deleted" };
  const message = "the post is there and cannot be deleted with this login";
  return answer.status === 200
    ? { kind: "refused", code: "permission_missing", message }
    : toInstagramFailure(answer);
}

/** `DELETE /{media}` (platforms reference 1.3): with Facebook Login only. */
export async function deleteMedia(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  const call = { method: "DELETE", path: encodeURIComponent(id) } as const;
  const answer = await callPlatform(toGraphRequest(api, account, call), signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 200 && answer.json?.success === true) return { kind: "deleted" };
  if (isMissing(answer) || readGraphError(answer)?.code === MEDIA_NOT_FOUND)
    return await confirmGone(api, account, id, signal);
  return toInstagramFailure(answer);
}
