import { toVisibleFailure } from "#src/graph/failures.ts";
import { toGraphRequest, type GraphApi } from "#src/graph/graph-call.ts";
import { readGraphError } from "#src/graph/graph-error.ts";
import { text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/request-body.ts";
import { sendOnce, toUnanswered } from "#src/http/send-once.ts";
import type { Handles, Outcome, Publication, SendGuard } from "#src/publishing/connector.ts";
import { findFinal } from "./containers.ts";
import { findQuotaFailure, MEANINGS } from "./meanings.ts";
import { findPermalink } from "./own-media.ts";

const NOT_READY = 9007;
/** Before the container is looked at again that was ready when we asked and not when we published. */
const NOT_READY_MS = 30_000;

function toFailedOutcome(answer: PlatformAnswer): Outcome {
  const quota = answer.status < 500 ? findQuotaFailure(answer) : undefined;
  if (quota !== undefined && answer.status !== 429) return quota;
  // Whether a container that is published already says the same is not known: its status tells.
  if (readGraphError(answer)?.code === NOT_READY && answer.status < 500)
    return { kind: "pending", afterMs: NOT_READY_MS };
  return toVisibleFailure(answer, MEANINGS);
}

/** `POST /{account}/media_publish`: publishes a container, which Instagram does once. */
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
  if (sent.status !== 200 || id === undefined) return toFailedOutcome(sent);
  // Within the call's own time: after it others look for a call that they believe lost.
  const remainingMs = guard.timeoutMs - (performance.now() - startedAt);
  const permalink = await findPermalink(api, publication, id, remainingMs);
  return { kind: "published", externalId: id, permalink };
}
