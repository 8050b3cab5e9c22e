import { toVisibleFailure } from "#src/graph-api/failures.ts";
import { toGraphRequest, type GraphApi } from "#src/graph-api/graph-request.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { idIn, pagePath } from "./calls.ts";
import { MEANINGS } from "./error-meanings.ts";
import { isLinkRefused, WITHOUT_LINK } from "./link-refusals.ts";
import { readPermalink } from "./permalink.ts";
import { photoIds, toPostFields } from "./post-steps.ts";

/** The call has no idempotency key, and only its answer contains the id of the post. */
export async function publishDirectly(
  api: GraphApi,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  if (photoIds(publication, handles).length < publication.media.length)
    return { kind: "retryable", code: "internal_error", message: "the photos are not uploaded" };
  const body = formBody({ ...toPostFields(publication, handles), published: "true" });
  const call = { method: "POST", path: pagePath(publication, "feed"), body } as const;
  const sent = await sendOnce(toGraphRequest(api, publication, call), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  const id = idIn(sent);
  if (id === undefined) return toFailure(sent, handles);
  const permalink = await readPermalink(api, publication, id);
  return { kind: "published", externalId: id, permalink };
}

/** A post whose link was refused is sent again without it. */
function toFailure(answer: PlatformAnswer, handles: Handles): Outcome {
  const failure = toVisibleFailure(answer, MEANINGS);
  return failure.kind === "refused" && isLinkRefused(answer, handles)
    ? { ...failure, kind: "retryable", retryAfterMs: 0, handles: WITHOUT_LINK }
    : failure;
}
