import type { Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import {
  type Endpoint,
  partsOf,
  requireParameter,
  type YoutubeCall,
} from "#src/youtube/endpoint.ts";
import { refuse } from "#src/youtube/errors.ts";
import { listReply, READ_SCOPES } from "#src/youtube/video-list.ts";
import { etagOf } from "#src/youtube/video-view.ts";

const PARTS = ["id", "snippet", "contentDetails", "status"];

export function uploadsPlaylistOf(channelId: string): string {
  return channelId.replace(/^UC/, "UU");
}

export function channelOfPlaylist(playlistId: string): string | undefined {
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
    ...(parts.has("snippet") ? { snippet } : {}),
    ...(parts.has("contentDetails") ? { contentDetails: { relatedPlaylists } } : {}),
    ...(parts.has("status") ? { status } : {}),
  };
}

function list({ call, channel }: YoutubeCall): Reply {
  const parts = partsOf(call.query, PARTS);
  if (requireParameter(call.query, "mine") !== "true")
    return refuse(400, "invalidFilters", { message: "Only `mine=true` is simulated." });

  return listReply("youtube#channelListResponse", [channelView(channel, parts)]);
}

export function listChannels(): Endpoint {
  return {
    method: "GET",
    path: "/youtube/v3/channels",
    operations: () => ["account"],
    scopes: READ_SCOPES,
    cost: { units: 1 },
    parameters: ["part", "mine", "maxResults"],
    handle: list,
  };
}
