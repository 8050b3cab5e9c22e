import type { NoAnswer } from "#src/http/call-platform.ts";
import { list, object, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import type { Details } from "#src/publishing/details.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Caveat, Failure, TargetErrorCode } from "#src/publishing/outcome.ts";
import { reasonOf, toFailure, toStepFailure } from "./failures.ts";

/**
 * YouTube processes most videos within minutes. One look costs a unit of the project's daily quota,
 * which all workspaces share, so that there is only one. What YouTube rejects later is noticed when
 * the metrics of the video are read.
 */
export const PROCESSED_AFTER_MS = 3_600_000;

export function toVideoHandles(videoId: string, playlistId: string | null): Handles {
  const uploadedAt = new Date().toISOString();
  return { videoId, uploadedAt, ...(playlistId === null ? {} : { playlistId }) };
}

const REJECTIONS: ReadonlyMap<string, TargetErrorCode> = new Map([
  ["length", "media_rejected"],
  ["uploaderAccountClosed", "account_action_needed"],
  ["uploaderAccountSuspended", "account_action_needed"],
]);

/** A video that YouTube cannot process, or rejects afterwards, is shown to no reader. */
export function findRejection(status: unknown): Caveat | undefined {
  const end = (code: TargetErrorCode, message: string): Caveat => ({
    code,
    message: shorten(`${message}: readers do not see it`),
  });
  const uploadStatus = text(status, "uploadStatus");
  if (uploadStatus === "failed") {
    const reason = text(status, "failureReason") ?? "no reason given";
    return end("media_rejected", `YouTube could not process the uploaded video (${reason})`);
  }
  if (uploadStatus !== "rejected") return undefined;
  const reason = text(status, "rejectionReason") ?? "no reason given";
  const code = REJECTIONS.get(reason) ?? "content_rejected";
  return end(code, `YouTube rejected the video after its upload (${reason})`);
}

/** A refusal ends it, because a refused call costs a unit too. */
function toDelay(failure: Failure): Details {
  if (failure.kind === "refused") return { kind: "never" };
  const { retryAfterMs = 0 } = failure.kind === "retryable" ? failure : {};
  return { kind: "not_yet", afterMs: retryAfterMs };
}

async function readProcessing(youtube: Caller, videoId: string): Promise<Details> {
  const query = { part: "status", id: videoId };
  const answer = await ask(youtube, { path: "youtube/v3/videos", query });
  if (answer.kind === "no_answer") return { kind: "not_yet" };
  if (answer.status !== 200) return toDelay(toStepFailure(answer));
  const [video] = list(answer.json, "items");
  const caveat = findRejection(object(video, "status"));
  return { kind: "never", ...(caveat === undefined ? {} : { caveat }) };
}

/** Adds the video to its playlist, and reads later whether YouTube could process it. */
export async function completeVideo(
  youtube: Caller,
  { videoId = "", uploadedAt = "", playlistId, isInPlaylist }: Handles,
  processedAfterMs: number,
): Promise<Details> {
  if (playlistId !== undefined && isInPlaylist === undefined) {
    const added = await addToPlaylist(youtube, { videoId, playlistId });
    if (added === "added") return { kind: "not_yet", handles: { isInPlaylist: "yes" } };
    if (added.kind !== "never") return added;
    return { ...added, kind: "not_yet", handles: { isInPlaylist: "no" } };
  }
  const afterMs = Date.parse(uploadedAt) + processedAfterMs - Date.now();
  // Without a time the question could be asked at once, before YouTube knows an answer.
  if (Number.isNaN(afterMs)) return { kind: "never" };
  return afterMs > 0 ? { kind: "not_yet", afterMs } : await readProcessing(youtube, videoId);
}

interface Place {
  readonly videoId: string;
  readonly playlistId: string;
}

type Answer = PlatformAnswer | NoAnswer;

const PATH = "youtube/v3/playlistItems";

/**
 * After a definite refusal the video stays published without the playlist, and the post says why.
 * Any other failure may be temporary, for example because YouTube does not list a new video yet.
 */
function toConsequence(answer: Answer, { playlistId }: Place): Details {
  if (answer.kind === "no_answer") return { kind: "not_yet" };
  const reason = reasonOf(answer);
  const failure = toFailure(answer);
  const isRefused = failure?.kind === "refused" || reason === "playlistNotFound";
  if (!isRefused || reason === "videoNotFound") return { kind: "not_yet" };
  const code = failure?.kind === "refused" ? failure.code : "content_rejected";
  const why = failure?.message ?? "YouTube does not know the playlist";
  const message = `the video is published, but not in the playlist ${playlistId}: ${why}`;
  return { kind: "never", caveat: { code, message } };
}

/**
 * Asks whether the playlist has the video, because YouTube adds a video as often as it is asked to.
 */
function findItem(youtube: Caller, place: Place): Promise<Answer> {
  return ask(youtube, { path: PATH, query: { part: "id", ...place } });
}

function insertItem(youtube: Caller, { videoId, playlistId }: Place): Promise<Answer> {
  const resourceId = { kind: "youtube#video", videoId };
  const body = jsonBody({ snippet: { playlistId, resourceId } });
  return ask(youtube, { method: "POST", path: PATH, query: { part: "snippet" }, body });
}

/**
 * Unless the playlist has it. Two processes that do this at the same moment can add the video
 * twice; the video itself exists once.
 */
export async function addToPlaylist(youtube: Caller, place: Place): Promise<Details | "added"> {
  const found = await findItem(youtube, place);
  if (found.kind === "no_answer" || found.status !== 200) return toConsequence(found, place);
  if (list(found.json, "items").length > 0) return "added";
  const inserted = await insertItem(youtube, place);
  const isAdded = inserted.kind === "answer" && inserted.status === 200;
  return isAdded ? "added" : toConsequence(inserted, place);
}
