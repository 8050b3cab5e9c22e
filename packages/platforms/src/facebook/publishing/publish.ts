import { toVisibleFailure } from "#src/graph/failures.ts";
import { toGraphRequest, type GraphApi, type GraphCall } from "#src/graph/graph-call.ts";
import { formBody } from "#src/http/request-body.ts";
import { sendOnce, toUnanswered } from "#src/http/send-once.ts";
import type { Handles, Outcome, Publication, SendGuard } from "#src/publishing/connector.ts";
import { pagePath } from "./context.ts";
import type { FacebookKind } from "./kind.ts";
import { MEANINGS } from "./meanings.ts";
import { readPermalink } from "./permalink.ts";
import { reelId } from "./reel-step.ts";
import { videoId } from "./video-step.ts";

/** After a reel was finished Facebook takes some seconds to show it. */
const REEL_CHECK_MS = 1000;

/** What was made and is seen by nobody yet, by its id. */
export function preparedId(kind: FacebookKind, handles: Handles): string | undefined {
  switch (kind) {
    case "post":
      return handles.postId;
    case "video":
      return videoId(handles);
    case "reel":
      return reelId(handles);
  }
}

/** The call that makes it visible. Each of them may be repeated: it names what is to be seen. */
function toCall(kind: FacebookKind, publication: Publication, id: string): GraphCall {
  const path = encodeURIComponent(id);
  switch (kind) {
    case "post":
      return { method: "POST", path, body: formBody({ is_published: "true" }) };
    case "video":
      return { method: "POST", path, body: formBody({ published: "true" }) };
    case "reel": {
      const { text: description, title } = publication;
      const body = formBody({
        upload_phase: "finish",
        video_id: id,
        video_state: "PUBLISHED",
        ...(description === "" ? {} : { description }),
        ...(title === undefined || title === "" ? {} : { title }),
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
    return { kind: "retryable", code: "internal_error", message: "nothing was prepared" };
  const request = toGraphRequest(api, publication, toCall(kind, publication, id));
  const sent = await sendOnce(request, guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  if (sent.status !== 200 || sent.json?.success !== true) return toVisibleFailure(sent, MEANINGS);
  if (kind === "reel") return { kind: "pending", afterMs: REEL_CHECK_MS };
  const permalink = await readPermalink(api, publication, id);
  return { kind: "published", externalId: id, permalink };
}
