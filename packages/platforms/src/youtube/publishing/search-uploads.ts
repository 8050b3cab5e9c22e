import { callPlatform } from "#src/http/call-platform.ts";
import { type JsonObject, list, object, text } from "#src/http/platform-answer.ts";
import { bearer, type Query, toSearch } from "#src/http/platform-request.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";
import { reasonOf } from "./failures.ts";
import { askSession, type SessionState, toSessionState, type Upload } from "./upload-calls.ts";
import { toPublished, toUploadedVideo, type UploadedVideo } from "./uploaded-video.ts";

const MAX_PAGES = 20;

interface Unread {
  readonly failure: "refused" | "unreadable";
}

const PERMISSION_REASONS: ReadonlySet<string> = new Set(["insufficientPermissions", "forbidden"]);

type Read = (path: string, query: Query) => Promise<{ readonly json: JsonObject } | Unread>;

function openApi(baseUrl: string, { accessToken }: Publication, signal: AbortSignal): Read {
  return async (path, query) => {
    const url = `${baseUrl}/youtube/v3/${path}${toSearch(query)}`;
    const answer = await callPlatform({ method: "GET", url, headers: bearer(accessToken) }, signal);
    if (answer.kind === "no_answer") return { failure: "unreadable" };
    if (answer.status === 200 && answer.json !== undefined) return { json: answer.json };
    // YouTube has no uploads playlist for a channel without uploads, so the error
    // `playlistNotFound` means that the channel has no videos.
    if (reasonOf(answer) === "playlistNotFound") return { json: { items: [] } };
    const isRefused = answer.status === 403 && PERMISSION_REASONS.has(reasonOf(answer));
    return { failure: isRefused ? "refused" : "unreadable" };
  };
}

async function findPlaylist(read: Read): Promise<string | Unread> {
  const channels = await read("channels", { part: "contentDetails", mine: "true" });
  if ("failure" in channels) return channels;
  const [channel] = list(channels.json, "items");
  const playlists = object(object(channel, "contentDetails"), "relatedPlaylists");
  return text(playlists, "uploads") ?? { failure: "unreadable" };
}

function publishedAt(item: unknown): number {
  return Date.parse(text(object(item, "snippet"), "publishedAt") ?? "");
}

async function readItems(
  read: Read,
  playlistId: string,
  since: number,
): Promise<readonly unknown[] | Unread> {
  const found: unknown[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await read("playlistItems", {
      part: "snippet,contentDetails,status",
      playlistId,
      maxResults: "50",
      pageToken,
    });
    if ("failure" in answer) return answer;
    const items = list(answer.json, "items");
    // A video whose time cannot be read stays in the list, because it may be the video that is
    // searched for.
    found.push(...items.filter((item) => !(publishedAt(item) < since)));
    pageToken = text(answer.json, "nextPageToken");
    if (pageToken === undefined || items.some((item) => publishedAt(item) < since)) return found;
  }
  return { failure: "unreadable" };
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

async function listMatchingUploads(
  baseUrl: string,
  publication: Publication,
  since: number,
  signal: AbortSignal,
): Promise<readonly UploadedVideo[] | Unread> {
  const read = openApi(baseUrl, publication, signal);
  const playlistId = await findPlaylist(read);
  if (typeof playlistId !== "string") return playlistId;
  const items = await readItems(read, playlistId, since);
  if ("failure" in items) return items;
  return items.filter((item) => matches(publication, item)).flatMap(toVideos);
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
  return answer.kind === "answer" ? toSessionState(answer) : undefined;
}

/** Found when exactly one upload matches that no other Postrider post owns. */
export async function searchUploads(
  baseUrl: string,
  publication: Publication,
  since: number,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const videos = await listMatchingUploads(baseUrl, publication, since, signal);
  if ("failure" in videos) {
    if (videos.failure === "unreadable") return repeatLook(call);
    return { kind: "cannot_tell", message: "YouTube refuses to list the channel's uploads" };
  }
  const posts = videos.map((video) => ({ ...video, permalink: null }));
  // Every YouTube video has a title, so the text to match is never empty.
  const content = { text: publication.title ?? "" };
  const verdict = await judgeMatchingPosts(posts, content, call, LOOKS_AFTER_MS);
  if (verdict.kind !== "present") return verdict;
  const video = videos.find(({ id }) => id === verdict.externalId);
  return video === undefined ? verdict : toVerdict(publication, video);
}
