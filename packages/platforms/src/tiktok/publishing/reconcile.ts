import { shorten } from "#src/http/platform-answer.ts";
import type { Caller } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { limitReached, refused } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { cannotTell, present, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import { codeOf } from "./calls.ts";
import { isPublic } from "./creator-info.ts";
import { toEnding, toFailure } from "./failures.ts";
import {
  fetchStatus,
  kindOf,
  type NoStatus,
  type PublishStatus,
  toDetailHandles,
  toPermalink,
} from "./publish-status.ts";
import { restartAfterPause } from "./retry-pause.ts";
import { chunksIn, isUsable, UPLOAD, type Upload } from "./upload-state.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SETTLED_MS = 10 * MINUTE_MS;
const MIN_WAIT_MS = 100;
/** Even in tests with shortened waits: TikTok allows 30 of these calls per minute and user. */
const MIN_POLL_MS = 400;

export interface KnownCall {
  readonly tiktok: Caller;
  readonly publication: Publication;
  readonly handles: Handles;
  readonly call: UnknownCall;
  readonly publishId: string;
}

/** Frequent at first, because processing usually takes seconds, and rare after an hour. */
function keepWaiting({ now, calledAt, looks, timeScale }: UnknownCall): Verdict {
  const sinceMs = now.getTime() - calledAt.getTime();
  if (sinceMs > Math.max(MINUTE_MS, DAY_MS * timeScale))
    return cannotTell("TikTok has not finished the publication within a day");
  const soonMs = Math.min(SECOND_MS * 2 ** Math.min(looks, 10), MINUTE_MS);
  const afterMs = (sinceMs > HOUR_MS * timeScale ? 5 * MINUTE_MS : soonMs) * timeScale;
  return { kind: "look_again", afterMs: Math.max(MIN_POLL_MS, afterMs) };
}

function onNoStatus({ call }: KnownCall, { answer }: NoStatus): Verdict {
  const failure = answer.kind === "answer" ? toFailure(answer) : undefined;
  if (answer.kind === "answer" && failure?.kind === "refused")
    return cannotTell(shorten(`TikTok does not show the status: ${codeOf(answer)}`));
  return {
    kind: "look_again",
    afterMs: Math.max(MIN_WAIT_MS, MINUTE_MS * call.timeScale),
    isIncomplete: true,
  };
}

function toPresent({ publication, publishId }: KnownCall, { postId }: PublishStatus): Verdict {
  const kind = kindOf(publication);
  if (postId !== null) return present(postId, toPermalink(publication, kind, postId));
  const askLater = isPublic(publication) ? { askLater: toDetailHandles(publishId, kind) } : {};
  return { kind: "present", externalId: null, permalink: null, ...askLater };
}

/**
 * The last chunk is sent again to the same upload URL; TikTok publishes the video once, however
 * often the chunk arrives, and may report later that it has the one of an earlier call. A URL that
 * no longer works is abandoned only when a chunk in transit can no longer complete the video.
 */
function onIncomplete({ handles, call }: KnownCall, upload: Upload, bytes: number): Verdict {
  if (isUsable(upload, call.now)) {
    const again = { ...upload, sent: chunksIn(upload, bytes), misses: upload.misses + 1 };
    return { kind: "repeat", handles: { ...handles, ...UPLOAD.write(again) } };
  }
  const settledMs = call.callUntil.getTime() + SETTLED_MS * call.timeScale - call.now.getTime();
  if (settledMs > 0) return { kind: "look_again", afterMs: Math.max(MIN_WAIT_MS, settledMs) };
  return { kind: "absent", handles: {} };
}

function onUploading(known: KnownCall, { uploadedBytes }: PublishStatus): Verdict {
  const { publication, handles, call } = known;
  const upload = UPLOAD.read(handles);
  const [media] = publication.media;
  if (upload === undefined || media === undefined || uploadedBytes === undefined)
    return keepWaiting(call);
  const isWhole = call.isPending === true || uploadedBytes >= media.bytes;
  return isWhole ? keepWaiting(call) : onIncomplete(known, upload, uploadedBytes);
}

/** The status of the publication is about all calls with its publish id. */
function onFailed({ handles, call }: KnownCall, { failReason }: PublishStatus): Verdict {
  const { code, isTemporary, limitMs } = toEnding(failReason);
  const message = shorten(
    failReason === "" ? "TikTok ended the publication without a reason" : failReason,
  );
  if (limitMs !== undefined) {
    const limit = limitReached(code, message, limitMs * call.timeScale);
    return { kind: "absent", isOwnFlag: true, handles: {}, limit };
  }
  const anew = isTemporary ? restartAfterPause(handles, call.now, call.timeScale) : undefined;
  return anew === undefined
    ? { ...refused(code, message), isOwnFlag: true }
    : { kind: "absent", isOwnFlag: true, handles: anew };
}

export async function reconcileByStatus(known: KnownCall): Promise<Verdict> {
  const status = await fetchStatus(known.tiktok, known.publishId);
  if (status.kind === "no_status") return onNoStatus(known, status);
  switch (status.status) {
    case "PUBLISH_COMPLETE":
      return toPresent(known, status);
    case "FAILED":
      return onFailed(known, status);
    case "PROCESSING_UPLOAD":
      return onUploading(known, status);
    case "SEND_TO_USER_INBOX":
      return {
        ...refused("account_action_needed", "the post waits in the creator's TikTok inbox"),
        isOwnFlag: true,
      };
    default:
      return keepWaiting(known.call);
  }
}
