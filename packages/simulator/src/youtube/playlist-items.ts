import { createHash } from "node:crypto";
import type { Reply } from "#src/http/call.ts";
import { channelOfPlaylist } from "#src/youtube/channels.ts";
import { partsOf, requireParameter } from "#src/youtube/endpoint.ts";
import type { Endpoint, YoutubeCall } from "#src/youtube/endpoint.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import { contextOf, READ_SCOPES } from "#src/youtube/video-list.ts";
import { etagOf, snippetView } from "#src/youtube/video-view.ts";
import { existsAt } from "#src/youtube/videos.ts";
import type { Video } from "#src/youtube/videos.ts";

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

/**
 * Returns the index at which the requested page of a YouTube list starts, as the call's page token
 * says.
 */
function startOf(query: URLSearchParams): number {
  const token = query.get("pageToken");
  if (token === null) {
    return 0;
  }
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

function list(network: YoutubeNetwork, { call, channel, now, asOf }: YoutubeCall): Reply {
  const parts = partsOf(call.query, PARTS);
  const playlistId = requireParameter(call.query, "playlistId");
  const owner = channelOfPlaylist(playlistId) ?? "";
  const isOwn = owner === channel.externalId;
  const all = [...network.videos.newestFirst(owner)].filter(
    (video) => existsAt(video, asOf) && (isOwn || video.metadata.privacyStatus === "public"),
  );
  if (all.length === 0) {
    // Answers that the playlist does not exist while the channel has no uploads, as the real
    // YouTube does.
    const message =
      "The playlist identified with the request's playlistId parameter cannot be found.";
    const domain = "youtube.playlistItem";
    return refuse(404, "playlistNotFound", { message, domain, location: "playlistId" });
  }
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

/** `GET /youtube/v3/playlistItems?playlistId=`: a YouTube channel's uploads, newest first. */
export function listPlaylistItems(network: YoutubeNetwork): Endpoint {
  return {
    method: "GET",
    path: "/youtube/v3/playlistItems",
    operations: () => ["status"],
    reads: true,
    scopes: READ_SCOPES,
    cost: { units: 1 },
    parameters: ["part", "playlistId", "maxResults", "pageToken"],
    handle: (call) => list(network, call),
  };
}
