import { toVisibleFailure } from "#src/graph-api/failures.ts";
import { readGraphError } from "#src/graph-api/graph-error.ts";
import { type GraphApi, toGraphRequest } from "#src/graph-api/graph-request.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { pagePath } from "./calls.ts";
import { MEANINGS } from "./error-meanings.ts";
import { VIDEO_CHECK_MS } from "./publish-prepared.ts";
import { finishBody } from "./video-step.ts";

const UPLOAD_ENDED: ReadonlySet<number | undefined> = new Set([6000, 6001]);

/**
 * The upload belongs to one video, whose id is known before this call, so a second call cannot
 * publish a second video.
 */
export async function publishUploaded(
  videoApi: GraphApi,
  publication: Publication,
  session: string,
  guard: SendGuard,
): Promise<Outcome> {
  const body = finishBody(publication, session, true);
  const call = { method: "POST", path: pagePath(publication, "videos"), body } as const;
  const sent = await sendOnce(toGraphRequest(videoApi, publication, call), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  return sent.status === 200 && sent.json?.success === true
    ? { kind: "pending", afterMs: VIDEO_CHECK_MS }
    : toFailure(sent);
}

function toFailure(answer: PlatformAnswer): Outcome {
  const failure = toVisibleFailure(answer, MEANINGS);
  const { message } = failure;
  const isEnded = UPLOAD_ENDED.has(readGraphError(answer)?.code);
  return failure.kind === "refused" && isEnded ? { kind: "unknown", message } : failure;
}
