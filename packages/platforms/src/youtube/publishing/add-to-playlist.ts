import type { NoAnswer } from "#src/http/call-platform.ts";
import { list, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import type { Details } from "#src/publishing/details.ts";
import { reasonOf, toFailure } from "./failures.ts";

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
