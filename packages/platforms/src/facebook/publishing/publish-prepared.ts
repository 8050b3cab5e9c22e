import { toVisibleFailure } from "#src/graph-api/failures.ts";
import { toGraphRequest, type GraphApi, type GraphCall } from "#src/graph-api/graph-request.ts";
import { formBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { pagePath, videoTexts } from "./calls.ts";
import { MEANINGS } from "./error-meanings.ts";
import { readPermalink } from "./permalink.ts";
import { type FacebookKind, mayStayDraft } from "./post-kind.ts";
import { reelId } from "./reel-step.ts";
import { uploadedVideo } from "./video-step.ts";

export const VIDEO_CHECK_MS = 1000;

export function preparedId(kind: FacebookKind, handles: Handles): string | undefined {
  switch (kind) {
    case "post":
      return handles.postId;
    case "video":
      return uploadedVideo(handles)?.id;
    case "reel":
      return reelId(handles);
  }
}

/** The call may be repeated, because it addresses the post by its id. */
function toCall(kind: FacebookKind, publication: Publication, id: string): GraphCall {
  const path = encodeURIComponent(id);
  switch (kind) {
    case "post":
      return { method: "POST", path, body: formBody({ is_published: "true" }) };
    case "video":
      return { method: "POST", path, body: formBody({ published: "true" }) };
    case "reel": {
      const body = formBody({
        upload_phase: "finish",
        video_id: id,
        video_state: "PUBLISHED",
        ...videoTexts(publication),
      });
      return { method: "POST", path: pagePath(publication, "video_reels"), body };
    }
  }
}

export async function publishPrepared(
  api: GraphApi,
  kind: FacebookKind,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const id = preparedId(kind, handles);
  if (id === undefined)
    return { kind: "retryable", code: "internal_error", message: "the post was not prepared" };
  const request = toGraphRequest(api, publication, toCall(kind, publication, id));
  const sent = await sendOnce(request, guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  if (sent.status !== 200 || sent.json?.success !== true) return toVisibleFailure(sent, MEANINGS);
  if (kind === "reel" || (kind === "video" && mayStayDraft(publication)))
    return { kind: "pending", afterMs: VIDEO_CHECK_MS };
  const permalink = await readPermalink(api, publication, id);
  return { kind: "published", externalId: id, permalink };
}
