import { type JsonObject, list, object, text } from "#src/http/platform-answer.ts";
import type { Query } from "#src/http/platform-request.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { endAt, judgeMatchingPosts, readWholeList } from "#src/publishing/search.ts";
import { cannotTell, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";
import { reasonOf } from "./failures.ts";
import { askSession, type SessionState, toSessionState, type Upload } from "./upload-calls.ts";
import { toPublished, toUploadedVideo, type UploadedVideo } from "./uploaded-video.ts";

const MAX_PAGES = 20;

const PERMISSION_REASONS: ReadonlySet<string> = new Set(["insufficientPermissions", "forbidden"]);

async function read(
  youtube: Caller,
  resource: string,
  query: Query,
  call: UnknownCall,
): Promise<{ readonly json: JsonObject } | Verdict> {
  const answer = await ask(youtube, { path: `youtube/v3/${resource}`, query });
  if (answer.kind === "no_answer") return repeatLook(call);
  if (answer.status === 200 && answer.json !== undefined) return { json: answer.json };
  // YouTube has no uploads playlist for a channel without uploads, so the error `playlistNotFound`
  // means that the channel has no videos.
  if (reasonOf(answer) === "playlistNotFound") return { json: { items: [] } };
  return answer.status === 403 && PERMISSION_REASONS.has(reasonOf(answer))
    ? cannotTell("YouTube refuses to list the channel's uploads")
    : repeatLook(call);
}

async function findPlaylist(youtube: Caller, call: UnknownCall): Promise<string | Verdict> {
  const query = { part: "contentDetails", mine: "true" };
  const channels = await read(youtube, "channels", query, call);
  if ("kind" in channels) return channels;
  const [channel] = list(channels.json, "items");
  const playlists = object(object(channel, "contentDetails"), "relatedPlaylists");
  return text(playlists, "uploads") ?? repeatLook(call);
}

function publishedAt(item: unknown): number {
  return Date.parse(text(object(item, "snippet"), "publishedAt") ?? "");
}

async function readItems(
  youtube: Caller,
  playlistId: string,
  since: number,
  call: UnknownCall,
): Promise<{ readonly entries: readonly unknown[] } | Verdict> {
  const query = { part: "snippet,contentDetails,status", playlistId, maxResults: "50" };
  return await readWholeList(call, MAX_PAGES, async (pageToken) => {
    const page = await read(youtube, "playlistItems", { ...query, pageToken }, call);
    if ("kind" in page) return page;
    const items = { entries: list(page.json, "items"), next: text(page.json, "nextPageToken") };
    return endAt(items, (item) => publishedAt(item) < since);
  });
}

function matches(publication: Publication, item: unknown): boolean {
  const snippet = object(item, "snippet");
  return (
    normalizeText(text(snippet, "title")) === normalizeText(publication.title) &&
    normalizeText(text(snippet, "description")) === normalizeText(publication.text)
  );
}

function toVideos(item: unknown): readonly UploadedVideo[] {
  const id = text(object(item, "contentDetails"), "videoId");
  return id === undefined ? [] : [toUploadedVideo(id, item)];
}

const MINUTE_MS = 60_000;
/**
 * YouTube's list of uploads is delayed, so only complete searches at all these times prove that the
 * video is absent.
 */
const LOOKS_AFTER_MS = [5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS];

export function toVerdict(publication: Publication, video: UploadedVideo): Verdict {
  return { kind: "present", ...toPublished(publication, video) };
}

export async function readSession(
  publication: Publication,
  upload: Upload,
  signal: AbortSignal,
): Promise<SessionState | undefined> {
  const [media] = publication.media;
  if (media === undefined) return undefined;
  const answer = await askSession(publication, upload.uri, media.bytes, signal);
  return answer.kind === "answer" ? toSessionState(answer, media.bytes) : undefined;
}

/** Found when exactly one upload matches that no other Postrider post owns. */
export async function searchUploads(
  youtube: Caller,
  publication: Publication,
  since: number,
  call: UnknownCall,
): Promise<Verdict> {
  const playlistId = await findPlaylist(youtube, call);
  if (typeof playlistId !== "string") return playlistId;
  const items = await readItems(youtube, playlistId, since, call);
  if ("kind" in items) return items;
  const videos = items.entries.filter((item) => matches(publication, item)).flatMap(toVideos);
  const posts = videos.map((video) => ({ ...video, permalink: null }));
  // Every YouTube video has a title, so the text to match is never empty.
  const content = { text: publication.title ?? "" };
  const verdict = await judgeMatchingPosts(posts, content, call, LOOKS_AFTER_MS);
  if (verdict.kind !== "present") return verdict;
  const video = videos.find(({ id }) => id === verdict.externalId);
  return video === undefined ? verdict : toVerdict(publication, video);
}
