import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import { list, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { bearer, jsonBody } from "#src/http/platform-request.ts";
import type { Details } from "#src/publishing/details.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { reasonOf, toFailure } from "#src/youtube/publishing/failures.ts";

interface Place {
  readonly videoId: string;
  readonly playlistId: string;
}

type Answer = PlatformAnswer | NoAnswer;

export function toPlaylistHandles(videoId: string, playlistId: string): Handles {
  return { videoId, playlistId };
}

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
function findItem(
  baseUrl: string,
  { accessToken }: AccountAccess,
  { videoId, playlistId }: Place,
  signal: AbortSignal,
): Promise<Answer> {
  const query = new URLSearchParams({ part: "id", playlistId, videoId });
  const url = `${baseUrl}/youtube/v3/playlistItems?${query.toString()}`;
  return callPlatform({ method: "GET", url, headers: bearer(accessToken) }, signal);
}

function insertItem(
  baseUrl: string,
  { accessToken }: AccountAccess,
  { videoId, playlistId }: Place,
  signal: AbortSignal,
): Promise<Answer> {
  const url = `${baseUrl}/youtube/v3/playlistItems?part=snippet`;
  const resourceId = { kind: "youtube#video", videoId };
  const body = jsonBody({ snippet: { playlistId, resourceId } });
  return callPlatform({ method: "POST", url, headers: bearer(accessToken), body }, signal);
}

/**
 * Unless the playlist has it. Two processes that do this at the same moment can add the video
 * twice; the video itself exists once.
 */
export async function addToPlaylist(
  baseUrl: string,
  account: AccountAccess,
  { videoId = "", playlistId = "" }: Handles,
  signal: AbortSignal,
): Promise<Details> {
  const place = { videoId, playlistId };
  const added: Details = { kind: "found", externalId: videoId, permalink: null };
  const found = await findItem(baseUrl, account, place, signal);
  if (found.kind === "no_answer" || found.status !== 200) return toConsequence(found, place);
  if (list(found.json, "items").length > 0) return added;
  const inserted = await insertItem(baseUrl, account, place, signal);
  const isAdded = inserted.kind === "answer" && inserted.status === 200;
  return isAdded ? added : toConsequence(inserted, place);
}
