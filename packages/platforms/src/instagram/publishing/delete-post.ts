import { isMissing, readGraphError } from "#src/graph-api/failures.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { text } from "#src/http/platform-answer.ts";
import { type MediaPage, readAnother, readMediaPage } from "#src/instagram/media-list.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import {
  type DeletionOutcome,
  type Failure,
  platformUnavailable,
  refused,
} from "#src/publishing/outcome.ts";
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

const TOO_OLD = refused(
  "permission_missing",
  "Instagram refuses the token of the Page to read and delete the post (error 100/33), and the post is not among the newest posts of the account",
);

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
async function confirmUnlisted(graph: Caller, id: string): Promise<DeletionOutcome> {
  let after: string | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const page = await readMediaPage(graph, { fields: "id", limit: PAGE_SIZE, after });
    if (page.kind !== "page") return toFailure(page);
    if (count === 0) {
      const another = await readAnother(graph, page, [id]);
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
async function confirmGone(graph: Caller, id: string): Promise<DeletionOutcome> {
  const answer = await ask(graph, { path: encodeURIComponent(id), query: { fields: "id" } });
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (isMissing(answer)) return await confirmUnlisted(graph, id);
  return answer.status === 200
    ? refused("permission_missing", "the post exists and cannot be deleted with this token")
    : toInstagramFailure(answer);
}

/** Needs an account that was connected with Facebook Login. */
export async function deletePost(graph: Caller, id: string): Promise<DeletionOutcome> {
  const answer = await ask(graph, { method: "DELETE", path: encodeURIComponent(id) });
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 200 && answer.json?.success === true) return { kind: "deleted" };
  if (isMissing(answer) || readGraphError(answer)?.code === MEDIA_NOT_FOUND)
    return await confirmGone(graph, id);
  return toInstagramFailure(answer);
}
