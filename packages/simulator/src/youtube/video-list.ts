import type { Call, Moment, Reply } from "#src/http/call.ts";
import {
  type Endpoint,
  partsOf,
  requireParameter,
  type YoutubeCall,
} from "#src/youtube/endpoint.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import { SCOPES } from "#src/youtube/tokens.ts";
import { etagOf, VIDEO_PARTS, type VideoContext, videoView } from "#src/youtube/video-view.ts";
import { existsAt, type Video } from "#src/youtube/videos.ts";

const MAX_IDS = 50;
const VIDEOS_PATH = "/youtube/v3/videos";
export const READ_SCOPES: readonly string[] = [SCOPES.readonly, SCOPES.forceSsl];

export function contextOf(
  network: YoutubeNetwork,
  video: Video,
  { now, asOf }: Pick<Moment, "now" | "asOf">,
): VideoContext {
  const { accounts, reactions } = network.world;
  return {
    channelTitle: accounts.byId("youtube", video.channel)?.displayName ?? "",
    metrics: reactions.metricsAt("youtube", video.id, asOf),
    commentCount: network.discussion.commentsOn(video.id).length,
    now,
  };
}

export function listReply(kind: string, items: readonly unknown[], more: object = {}): Reply {
  const pageInfo = { totalResults: items.length, resultsPerPage: items.length };
  return { status: 200, body: { kind, etag: etagOf(items), items, pageInfo, ...more } };
}

function list(network: YoutubeNetwork, { call, channel, now, asOf }: YoutubeCall): Reply {
  const parts = partsOf(call.query, VIDEO_PARTS);
  const ids = requireParameter(call.query, "id").split(",");
  if (ids.length > MAX_IDS)
    refuse(400, "invalidFilters", { message: "Too many ids.", domain: "youtube.parameter" });

  const found = [...new Set(ids)].flatMap((id) => {
    const video = network.videos.get(id);
    const isThere = video !== undefined && existsAt(video, asOf);
    const mayBeSeen =
      video?.channel === channel.externalId || video?.metadata.privacyStatus !== "private";
    return isThere && mayBeSeen
      ? [videoView(video, contextOf(network, video, { now, asOf }), parts)]
      : [];
  });
  return listReply("youtube#videoListResponse", found);
}

function remove(network: YoutubeNetwork, { call, channel, now }: YoutubeCall): Reply {
  const video = network.videos.get(requireParameter(call.query, "id"));
  if (video === undefined || video.deletedAt !== null) {
    const message = "The video that you are trying to delete cannot be found.";
    return refuse(404, "videoNotFound", { message, domain: "youtube.video", location: "id" });
  }
  if (video.channel !== channel.externalId) {
    const message = "The video that you are trying to delete cannot be deleted.";
    return refuse(403, "forbidden", { message, domain: "youtube.video" });
  }
  network.videos.remove(video, now);
  return { status: 204, body: "" };
}

function wantsStatistics(call: Call): boolean {
  return (call.query.get("part") ?? "").split(",").includes("statistics");
}

export function listVideos(network: YoutubeNetwork): Endpoint {
  return {
    method: "GET",
    path: VIDEOS_PATH,
    operations: (call) => [wantsStatistics(call) ? "metrics" : "status"],
    reads: true,
    scopes: READ_SCOPES,
    cost: { units: 1 },
    parameters: ["part", "id", "hl", "maxResults"],
    handle: (call) => list(network, call),
  };
}

export function deleteVideo(network: YoutubeNetwork): Endpoint {
  return {
    method: "DELETE",
    path: VIDEOS_PATH,
    operations: () => ["delete"],
    scopes: [SCOPES.forceSsl],
    cost: { units: 50 },
    parameters: ["id", "onBehalfOfContentOwner"],
    handle: (call) => remove(network, call),
  };
}
