import { toVisibleFailure } from "#src/graph-api/failures.ts";
import { readGraphError } from "#src/graph-api/graph-error.ts";
import { toGraphRequest, type GraphApi } from "#src/graph-api/graph-request.ts";
import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { findPermalink } from "./account-media.ts";
import { findFinal, wasSent } from "./container-state.ts";
import { findQuotaFailure, MEANINGS } from "./error-meanings.ts";

const NOT_READY = 9007;
const NOT_READY_WAIT_MS = 30_000;

const NOT_READY_YET: Outcome = {
  kind: "retryable",
  code: "platform_unavailable",
  message: "Instagram is still processing the media",
};

function toFailedOutcome(answer: PlatformAnswer, isFirstCall: boolean): Outcome {
  const quota = answer.status < 500 ? findQuotaFailure(answer) : undefined;
  if (quota !== undefined && answer.status !== 429) return quota;
  // Instagram may return the error "not ready" also for a container that is already published. The
  // outcome is therefore `pending`, and the container's status decides it later. If Instagram
  // refuses to show this status, the first publishing call is repeated, because no earlier call can
  // have published the container.
  if (readGraphError(answer)?.code === NOT_READY && answer.status < 500)
    return isFirstCall ? NOT_READY_YET : { kind: "pending", afterMs: NOT_READY_WAIT_MS };
  return toVisibleFailure(answer, MEANINGS);
}

export async function publishContainer(
  api: GraphApi,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const startedAt = performance.now();
  const container = findFinal(handles, publication.media.length);
  if (container === undefined)
    return { kind: "retryable", code: "internal_error", message: "the media is not ready" };
  const path = `${encodeURIComponent(publication.externalId)}/media_publish`;
  const body = formBody({ creation_id: container.id });
  const request = toGraphRequest(api, publication, { method: "POST", path, body });
  const sent = await sendOnce(request, guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  const id = text(sent.json, "id");
  if (sent.status !== 200 || id === undefined)
    return toFailedOutcome(sent, container.isUnread === true && !wasSent(handles));
  // The permalink must be read before the deadline of the publishing call. After the deadline,
  // another worker determines the outcome of the call.
  const remainingMs = guard.timeoutMs - (performance.now() - startedAt);
  const permalink = await findPermalink(api, publication, id, remainingMs);
  return { kind: "published", externalId: id, permalink };
}
