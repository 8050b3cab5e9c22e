import { isMissing, readGraphError } from "#src/graph-api/failures.ts";
import { type GraphApi, toGraphRequest } from "#src/graph-api/graph-request.ts";
import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import { text } from "#src/http/platform-answer.ts";
import { type MediaPage, readAnother, readMediaPage } from "#src/instagram/media-list.ts";
import {
  type DeletionOutcome,
  type Failure,
  platformUnavailable,
} from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { toInstagramFailure } from "./error-meanings.ts";

const PAGE_SIZE = 50;
const MAX_PAGES = 20;

/**
 * Instagram's list may still show a post that an earlier deletion removed, so the deletion is
 * repeated.
 */
const LISTED: DeletionOutcome = {
  kind: "retryable",
  code: "permission_missing",
  message:
    "Instagram refuses the token of the Page to delete the post (error 100/33) and still lists it",
};

const TOO_OLD: DeletionOutcome = {
  kind: "refused",
  code: "permission_missing",
  message:
    "Instagram refuses the token of the Page to read and delete the post (error 100/33), and the post is not among the newest posts of the account",
};

function toFailure(failure: Failure | NoAnswer): Failure {
  return failure.kind === "no_answer" ? platformUnavailable(failure.message) : failure;
}

/** Undefined = the next page may contain the post. */
function judgePage({ posts, after }: MediaPage, id: string): DeletionOutcome | undefined {
  if (posts.some((post) => text(post, "id") === id)) return LISTED;
  return after === undefined ? { kind: "deleted" } : undefined;
}

/**
 * Checks in the list of an Instagram account's posts that a post, which Instagram says it does not
 * find, no longer exists: Instagram says the same to some Page tokens about posts that exist. The
 * post counts as deleted only if another listed post can be read by its id, or if the whole list
 * does not have it.
 */
async function confirmUnlisted(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<DeletionOutcome> {
  let after: string | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const query = { fields: "id", limit: PAGE_SIZE, after };
    const page = await readMediaPage(api, account, query, signal);
    if (page.kind !== "page") return toFailure(page);
    if (count === 0) {
      const another = await readAnother(api, account, { page, ids: [id] }, signal);
      if (another.kind !== "hidden")
        return another.kind === "shown" ? { kind: "deleted" } : toFailure(another);
    }
    const outcome = judgePage(page, id);
    if (outcome !== undefined) return outcome;
    ({ after } = page);
  }
  return TOO_OLD;
}

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
