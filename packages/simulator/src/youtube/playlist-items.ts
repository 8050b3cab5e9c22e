import { createHash } from "node:crypto";
import { isRecord, jsonObject, type Reply } from "#src/http/call.ts";
import { channelOfPlaylist } from "#src/youtube/channels.ts";
import {
  type Endpoint,
  partsOf,
  requireParameter,
  type YoutubeCall,
} from "#src/youtube/endpoint.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import { ownerOfPlaylist } from "#src/youtube/playlists.ts";
import { SCOPES } from "#src/youtube/tokens.ts";
import { contextOf, READ_SCOPES } from "#src/youtube/video-list.ts";
import { etagOf, snippetView } from "#src/youtube/video-view.ts";
import { existsAt, type Video } from "#src/youtube/videos.ts";

const PARTS = ["id", "snippet", "contentDetails", "status"];
const DEFAULT_SIZE = 5;
const MAX_SIZE = 50;
const TOKEN_PREFIX = "EAAa";

function sizeOf(query: URLSearchParams): number {
  const size = Number(query.get("maxResults") ?? DEFAULT_SIZE);
  return Number.isInteger(size) && size >= 0 && size <= MAX_SIZE
    ? size
    : refuse(400, "invalidValue", {
        message: `Invalid value '${size}'. Values must be within the range: [0, ${MAX_SIZE}]`,
        location: "maxResults",
      });
}

function startOf(query: URLSearchParams): number {
  const token = query.get("pageToken");
  if (token === null) return 0;

  const start = Number(token.startsWith(TOKEN_PREFIX) ? token.slice(TOKEN_PREFIX.length) : "x");
  return Number.isInteger(start) && start >= 0
    ? start
    : refuse(400, "invalidPageToken", {
        message: "The request specifies an invalid page token.",
        location: "pageToken",
        domain: "youtube.parameter",
      });
}

function tokenAt(start: number): string {
  return `${TOKEN_PREFIX}${start}`;
}

export function itemView(
  network: YoutubeNetwork,
  { video, playlistId, position }: { video: Video; playlistId: string; position: number },
  now: number,
  parts: ReadonlySet<string>,
) {
  const { publishedAt, channelId, title, description, channelTitle } = snippetView(
    video,
    contextOf(network, video, { now, asOf: now }),
  );
  const { privacyStatus } = video.metadata;
  const resourceId = { kind: "youtube#video", videoId: video.id };
  const videoPublishedAt = privacyStatus === "private" ? {} : { videoPublishedAt: publishedAt };
  const shown = { publishedAt, channelId, title, description, thumbnails: {}, channelTitle };
  return {
    kind: "youtube#playlistItem",
    etag: etagOf([video, position]),
    id: createHash("sha1").update(`${playlistId}${video.id}`).digest("base64url"),
    ...(parts.has("snippet") ? { snippet: { ...shown, playlistId, position, resourceId } } : {}),
    ...(parts.has("contentDetails")
      ? { contentDetails: { videoId: video.id, ...videoPublishedAt } }
      : {}),
    ...(parts.has("status") ? { status: { privacyStatus } } : {}),
  };
}

function playlistNotFound(): never {
  const message =
    "The playlist identified with the request's playlistId parameter cannot be found.";
  const domain = "youtube.playlistItem";
  return refuse(404, "playlistNotFound", { message, domain, location: "playlistId" });
}

function listOwn(
  network: YoutubeNetwork,
  { call, now, asOf }: YoutubeCall,
  playlistId: string,
  parts: ReadonlySet<string>,
): Reply {
  const wanted = call.query.get("videoId");
  const items = network.playlists.videosOf(playlistId).flatMap((id, position) => {
    const video = network.videos.get(id);
    const isListed = video !== undefined && existsAt(video, asOf) && (wanted ?? id) === id;
    return isListed ? [itemView(network, { video, playlistId, position }, now, parts)] : [];
  });
  const pageInfo = { totalResults: items.length, resultsPerPage: sizeOf(call.query) };
  const kind = "youtube#playlistItemListResponse";
  return { status: 200, body: { kind, etag: etagOf(items), items, pageInfo } };
}

function list(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
  const { call, channel, now, asOf } = youtubeCall;
  const parts = partsOf(call.query, PARTS);
  const playlistId = requireParameter(call.query, "playlistId");
  if (ownerOfPlaylist(playlistId) !== undefined) {
    requireOwn(network, ownerOfPlaylist(playlistId), channel.externalId);
    return listOwn(network, youtubeCall, playlistId, parts);
  }
  const owner = channelOfPlaylist(playlistId) ?? "";
  const isOwn = owner === channel.externalId;
  const all = [...network.videos.newestFirst(owner)].filter(
    (video) => existsAt(video, asOf) && (isOwn || video.metadata.privacyStatus === "public"),
  );
  if (all.length === 0)
    // As on the real YouTube, the playlist does not exist while the channel has no uploads.
    return playlistNotFound();

  const size = sizeOf(call.query);
  const start = startOf(call.query);
  const items = all
    .slice(start, start + size)
    .map((video, index) =>
      itemView(network, { video, playlistId, position: start + index }, now, parts),
    );
  const end = start + size;
  const next = size > 0 && end < all.length ? { nextPageToken: tokenAt(end) } : {};
  const pageInfo = { totalResults: all.length, resultsPerPage: size };
  const kind = "youtube#playlistItemListResponse";
  return { status: 200, body: { kind, etag: etagOf(items), ...next, items, pageInfo } };
}

function requireOwn({ world }: YoutubeNetwork, owner: string | undefined, channel: string): void {
  if (owner === undefined || world.accounts.byId("youtube", owner) === undefined)
    playlistNotFound();

  if (owner !== channel)
    refuse(403, "playlistItemsNotAccessible", { domain: "youtube.playlistItem" });
}

function insert(network: YoutubeNetwork, { call, channel, now }: YoutubeCall): Reply {
  const parts = partsOf(call.query, PARTS);
  const snippet = jsonObject(call)?.["snippet"];
  const resource = isRecord(snippet) ? snippet["resourceId"] : undefined;
  const playlistId = isRecord(snippet) ? snippet["playlistId"] : undefined;
  const domain = "youtube.playlistItem";
  if (typeof playlistId !== "string") return refuse(400, "playlistIdRequired", { domain });

  if (!isRecord(resource) || resource["kind"] !== "youtube#video")
    return refuse(400, "resourceIdRequired", { domain });

  requireOwn(network, ownerOfPlaylist(playlistId), channel.externalId);
  const video = network.videos.get(String(resource["videoId"]));
  if (video === undefined || !existsAt(video, now))
    return refuse(404, "videoNotFound", { message: "Video not found.", domain });

  const position = network.playlists.videosOf(playlistId).length;
  network.playlists.add(playlistId, video.id);
  return { status: 200, body: itemView(network, { video, playlistId, position }, now, parts) };
}

export function insertPlaylistItem(network: YoutubeNetwork): Endpoint {
  return {
    method: "POST",
    path: "/youtube/v3/playlistItems",
    operations: () => ["other"],
    scopes: [SCOPES.forceSsl],
    cost: { units: 50 },
    parameters: ["part"],
    handle: (call) => insert(network, call),
  };
}

export function listPlaylistItems(network: YoutubeNetwork): Endpoint {
  return {
    method: "GET",
    path: "/youtube/v3/playlistItems",
    operations: () => ["status"],
    reads: true,
    scopes: READ_SCOPES,
    cost: { units: 1 },
    parameters: ["part", "playlistId", "videoId", "maxResults", "pageToken"],
    handle: (call) => list(network, call),
  };
}
