import { callPlatform } from "#src/connectors/http.ts";
import { list, object, text } from "#src/connectors/platform-answer.ts";
import { reasonOf } from "#src/connectors/youtube/failures.ts";
import { findLock, toIds } from "#src/connectors/youtube/made-video.ts";
import { askSession, toSessionState } from "#src/connectors/youtube/upload-calls.ts";
import { readUpload, type MadeVideo, type Upload } from "#src/connectors/youtube/upload-state.ts";
import type { Handles, Publication, UnknownCall, Verdict } from "#src/domain/connector.ts";

const MINUTE_MS = 60_000;
/** A session that has ended says nothing more, so the channel's uploads are looked through at these times after the call. */
const LOOKS_AFTER_MS = [5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS];
/** Clock differences between us and YouTube. */
const BEFORE_UPLOAD_MS = MINUTE_MS;
const MAX_PAGES = 20;

type Json = Readonly<Record<string, unknown>>;
type Read = { readonly json: Json } | { readonly failure: "refused" | "unreadable" };
type Uploads = { readonly items: readonly Json[] } | { readonly failure: "refused" | "unreadable" };

const NO_PERMISSION: ReadonlySet<string> = new Set(["insufficientPermissions", "forbidden"]);

/** What is being looked for, and where. */
interface Search {
  readonly baseUrl: string;
  readonly publication: Publication;
  readonly upload: Upload;
  readonly signal: AbortSignal;
}

async function read(
  { baseUrl, publication, signal }: Search,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<Read> {
  const url = `${baseUrl}/youtube/v3/${path}?${new URLSearchParams(query).toString()}`;
  const headers = { authorization: `Bearer ${publication.accessToken}` };
  const answer = await callPlatform({ method: "GET", url, headers }, signal);
  if (answer.kind === "no_answer") return { failure: "unreadable" };
  if (answer.status === 200 && answer.json !== undefined) return { json: answer.json };
  // A channel without uploads has no list of them.
  if (reasonOf(answer) === "playlistNotFound") return { json: { items: [] } };
  const isRefused = answer.status === 403 && NO_PERMISSION.has(reasonOf(answer));
  return { failure: isRefused ? "refused" : "unreadable" };
}

function toItem(value: unknown): readonly Json[] {
  return object({ value }, "value") === undefined ? [] : [value as Json];
}

function publishedAt(item: Json): number {
  return Date.parse(text(object(item, "snippet"), "publishedAt") ?? "");
}

/** Everything on the channel since the upload began, private videos too. */
async function readUploads(search: Search): Promise<Uploads> {
  const channels = await read(search, "channels", { part: "contentDetails", mine: "true" });
  if ("failure" in channels) return channels;
  const [channel] = list(channels.json, "items");
  const playlists = object(object(channel, "contentDetails"), "relatedPlaylists");
  const playlistId = text(playlists, "uploads");
  if (playlistId === undefined) return { failure: "unreadable" };
  const since = search.upload.startedAt - BEFORE_UPLOAD_MS;
  const found: Json[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await read(search, "playlistItems", {
      part: "snippet,contentDetails,status",
      playlistId,
      maxResults: "50",
      ...(pageToken === undefined ? {} : { pageToken }),
    });
    if ("failure" in answer) return answer;
    const items = list(answer.json, "items").flatMap(toItem);
    found.push(...items.filter((item) => publishedAt(item) >= since));
    pageToken = text(answer.json, "nextPageToken");
    const isRead = pageToken === undefined || items.some((item) => publishedAt(item) < since);
    if (isRead) return { items: found };
  }
  return { failure: "unreadable" };
}

function fold(words: string | undefined): string {
  return (words ?? "").normalize("NFC").replaceAll(/\s+/g, " ").trim();
}

function toVideo(item: Json): readonly MadeVideo[] {
  const id = text(object(item, "contentDetails"), "videoId");
  const privacy = text(object(item, "status"), "privacyStatus");
  return id === undefined ? [] : [{ id, ...(privacy === undefined ? {} : { privacy }) }];
}

function toVerdict(publication: Publication, video: MadeVideo): Verdict {
  return findLock(publication, video) ?? { kind: "present", ...toIds(publication, video) };
}

function isSame({ publication }: Search, item: Json): boolean {
  const snippet = object(item, "snippet");
  return (
    fold(text(snippet, "title")) === fold(publication.title) &&
    fold(text(snippet, "description")) === fold(publication.text)
  );
}

async function lookThroughUploads(search: Search, call: UnknownCall): Promise<Verdict> {
  const uploads = await readUploads(search);
  if ("failure" in uploads) {
    if (uploads.failure === "refused")
      return { kind: "cannot_tell", message: "the channel's uploads cannot be read" };
    return lookAgain(call);
  }
  const same = uploads.items.filter((item) => isSame(search, item)).flatMap(toVideo);
  const owned = await call.isOwned(same.map(({ id }) => id));
  const [video, ...others] = same.filter(({ id }) => !owned.has(id));
  if (others.length > 0)
    return { kind: "cannot_tell", message: "several videos with this title are there" };
  return video === undefined ? nextLook(call) : toVerdict(search.publication, video);
}

function lookAgain({ timeScale }: UnknownCall): Verdict {
  return { kind: "look_again", afterMs: MINUTE_MS * timeScale, isIncomplete: true };
}

/** The first look comes at once; that nothing is found at the set times either proves nothing, so a person has to look. */
function nextLook({ now, callUntil, looks, timeScale }: UnknownCall): Verdict {
  const afterMs = LOOKS_AFTER_MS[looks];
  if (afterMs === undefined)
    return { kind: "cannot_tell", message: "the upload has ended, and no video was found" };
  const sinceMs = now.getTime() - callUntil.getTime();
  return { kind: "look_again", afterMs: Math.max(10, afterMs * timeScale - sinceMs) };
}

/** Asks the session what became of the call; one that has ended may have made a video, which is then looked for. */
export async function reconcileBySession(
  baseUrl: string,
  publication: Publication,
  handles: Handles,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const upload = readUpload(handles);
  const [media] = publication.media;
  if (upload === undefined || media === undefined) return { kind: "absent" };
  const answer = await askSession(publication, upload.uri, media.bytes, signal);
  const state = answer.kind === "answer" ? toSessionState(answer) : undefined;
  switch (state?.kind) {
    case "complete":
      return toVerdict(publication, state.video);
    case "incomplete":
      return { kind: "absent" };
    case "gone":
      if (!upload.isOffered) return { kind: "absent" };
      return await lookThroughUploads({ baseUrl, publication, upload, signal }, call);
    case undefined:
      return lookAgain(call);
  }
}
