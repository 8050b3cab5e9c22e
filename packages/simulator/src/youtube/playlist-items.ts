import { createHash } from "node:crypto";
import { isRecord, jsonObject, type Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import { existsAt } from "#src/world/posts.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeCall, YoutubeNetwork } from "#src/youtube/network.ts";
import { chosen, etagOf, listReply, partsOf, requireParameter } from "#src/youtube/resources.ts";
import { contextOf, snippetView } from "#src/youtube/video-list.ts";
import { ownerOfPlaylist, type Video } from "#src/youtube/videos.ts";

function uploadsPlaylistOf(channelId: string): string {
  return channelId.replace(/^UC/, "UU");
}

function channelOfPlaylist(playlistId: string): string | undefined {
  return playlistId.startsWith("UU") ? playlistId.replace(/^UU/, "UC") : undefined;
}

export function channelView(channel: Account, parts: ReadonlySet<string>) {
  const { externalId, displayName: title, username } = channel;
  const url = `https://yt3.ggpht.com/simulated-${externalId}=s88-c-k-c0x00ffffff-no-rj`;
  const snippet = {
    title,
    description: "",
    customUrl: `@${username.toLowerCase()}`,
    publishedAt: "2020-01-01T00:00:00Z",
    thumbnails: { default: { url, width: 88, height: 88 } },
    localized: { title, description: "" },
  };
  const relatedPlaylists = { likes: "LL", uploads: uploadsPlaylistOf(externalId) };
  const status = { privacyStatus: "public", isLinked: true, longUploadsStatus: "allowed" };
  return {
    kind: "youtube#channel",
    etag: etagOf(channel),
    id: externalId,
    ...chosen(parts, { snippet, contentDetails: { relatedPlaylists }, status }),
  };
}

export function listChannels(_network: YoutubeNetwork, { call, channel }: YoutubeCall): Reply {
  const parts = partsOf(call.query, PARTS);
  if (requireParameter(call.query, "mine") !== "true")
    return refuse(400, "invalidFilters", { message: "Only `mine=true` is simulated." });
  return listReply("youtube#channelListResponse", [channelView(channel, parts)]);
}

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
    ...chosen(parts, {
      snippet: { ...shown, playlistId, position, resourceId },
      contentDetails: { videoId: video.id, ...videoPublishedAt },
      status: { privacyStatus },
    }),
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
  return listReply("youtube#playlistItemListResponse", items, { pageInfo });
}

export function listPlaylistItems(network: YoutubeNetwork, youtubeCall: YoutubeCall): Reply {
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
  const nextPageToken = size > 0 && end < all.length ? `${TOKEN_PREFIX}${end}` : undefined;
  const pageInfo = { totalResults: all.length, resultsPerPage: size };
  return listReply("youtube#playlistItemListResponse", items, { nextPageToken, pageInfo });
}

function requireOwn({ world }: YoutubeNetwork, owner: string | undefined, channel: string): void {
  if (owner === undefined || world.accounts.byId("youtube", owner) === undefined)
    playlistNotFound();
  if (owner !== channel)
    refuse(403, "playlistItemsNotAccessible", { domain: "youtube.playlistItem" });
}

export function insertPlaylistItem(
  network: YoutubeNetwork,
  { call, channel, now }: YoutubeCall,
): Reply {
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
