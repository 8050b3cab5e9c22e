import { callPlatform } from "#src/http/http.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import type { Publication } from "#src/publishing/connector.ts";
import { reasonOf } from "./failures.ts";
import type { MadeVideo } from "./upload-state.ts";

/** Clock differences between us and YouTube. */
const BEFORE_MS = 60_000;
const MAX_PAGES = 20;

type Json = Readonly<Record<string, unknown>>;
/** `refused` = for good; `unreadable` = this time. */
interface Unread {
  readonly failure: "refused" | "unreadable";
}

const NO_PERMISSION: ReadonlySet<string> = new Set(["insufficientPermissions", "forbidden"]);

type Read = (
  path: string,
  query: Readonly<Record<string, string>>,
) => Promise<{ readonly json: Json } | Unread>;

function openApi(baseUrl: string, { accessToken }: Publication, signal: AbortSignal): Read {
  return async (path, query) => {
    const url = `${baseUrl}/youtube/v3/${path}?${new URLSearchParams(query).toString()}`;
    const headers = { authorization: `Bearer ${accessToken}` };
    const answer = await callPlatform({ method: "GET", url, headers }, signal);
    if (answer.kind === "no_answer") return { failure: "unreadable" };
    if (answer.status === 200 && answer.json !== undefined) return { json: answer.json };
    // A channel without uploads has no list of them.
    if (reasonOf(answer) === "playlistNotFound") return { json: { items: [] } };
    const isRefused = answer.status === 403 && NO_PERMISSION.has(reasonOf(answer));
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

/** The items of the list, which is newest first, since then. */
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
      ...(pageToken === undefined ? {} : { pageToken }),
    });
    if ("failure" in answer) return answer;
    const items = list(answer.json, "items");
    found.push(...items.filter((item) => publishedAt(item) >= since));
    pageToken = text(answer.json, "nextPageToken");
    if (pageToken === undefined || items.some((item) => publishedAt(item) < since)) return found;
  }
  return { failure: "unreadable" };
}

function fold(words: string | undefined): string {
  return (words ?? "").normalize("NFC").replaceAll(/\s+/g, " ").trim();
}

function isSame(publication: Publication, item: unknown): boolean {
  const snippet = object(item, "snippet");
  return (
    fold(text(snippet, "title")) === fold(publication.title) &&
    fold(text(snippet, "description")) === fold(publication.text)
  );
}

function toVideo(item: unknown): readonly MadeVideo[] {
  const id = text(object(item, "contentDetails"), "videoId");
  const privacy = text(object(item, "status"), "privacyStatus");
  return id === undefined ? [] : [{ id, ...(privacy === undefined ? {} : { privacy }) }];
}

/** The channel's videos since then with the publication's title and description, private ones too. */
export async function listSameUploads(
  baseUrl: string,
  publication: Publication,
  since: number,
  signal: AbortSignal,
): Promise<readonly MadeVideo[] | Unread> {
  const read = openApi(baseUrl, publication, signal);
  const playlistId = await findPlaylist(read);
  if (typeof playlistId !== "string") return playlistId;
  const items = await readItems(read, playlistId, since - BEFORE_MS);
  if ("failure" in items) return items;
  return items.filter((item) => isSame(publication, item)).flatMap(toVideo);
}
