import { isMissing } from "#src/graph-api/failures.ts";
import { readGraphError } from "#src/graph-api/graph-error.ts";
import { toGraphRequest, type GraphApi } from "#src/graph-api/graph-request.ts";
import { callPlatform } from "#src/http/call-platform.ts";
import type { DeletionOutcome } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { confirmUnlisted } from "./confirm-unlisted.ts";
import { toInstagramFailure } from "./error-meanings.ts";

const MEDIA_NOT_FOUND = 24;

/**
 * The Graph API gives the same error for missing and inaccessible posts, sometimes by mistake, so
 * the post must not be readable either.
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
  if (isMissing(answer)) return await confirmUnlisted(api, account, id, signal);
  const message = "the post exists and cannot be deleted with this token";
  return answer.status === 200
    ? { kind: "refused", code: "permission_missing", message }
    : toInstagramFailure(answer);
}

/** Needs an account that was connected with Facebook Login. */
export async function deletePost(
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
