import type { Call, Moment, Reply } from "#src/http/call.ts";
import type { Operations } from "#src/platform.ts";
import { existsAt } from "#src/world/posts.ts";
import type { MetricValues } from "#src/world/reactions.ts";
import { refuse } from "#src/youtube/errors.ts";
import type { YoutubeCall, YoutubeNetwork } from "#src/youtube/network.ts";
import { chosen, etagOf, listReply, partsOf, requireParameter } from "#src/youtube/resources.ts";
import { uploadStatusOf, type Video } from "#src/youtube/videos.ts";

interface VideoContext {
  readonly channelTitle: string;
  readonly metrics: MetricValues;
  readonly commentCount: number;
  readonly now: number;
}

const VIDEO_PARTS = ["id", "snippet", "status", "statistics", "processingDetails"];

export function snippetView(
  { channel, createdAt, metadata }: Video,
  { channelTitle }: Pick<VideoContext, "channelTitle">,
) {
  const { title, description, tags, categoryId } = metadata;
  return {
    publishedAt: new Date(createdAt).toISOString().replace(/\.\d{3}Z$/, "Z"),
    channelId: channel,
    title,
    description,
    thumbnails: {},
    channelTitle,
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
    categoryId,
    liveBroadcastContent: "none",
    localized: { title, description },
  };
}

function status(video: Video, { now }: VideoContext) {
  const { privacyStatus, license, embeddable, madeForKids } = video.metadata;
  const uploadStatus = uploadStatusOf(video, now);
  return {
    uploadStatus,
    ...(uploadStatus === "failed" ? { failureReason: "invalidFile" } : {}),
    privacyStatus,
    license,
    embeddable,
    publicStatsViewable: true,
    madeForKids,
    selfDeclaredMadeForKids: madeForKids,
  };
}

/** All counters are strings. */
function statistics({ metrics, commentCount }: VideoContext) {
  return {
    viewCount: String(metrics.views ?? 0),
    likeCount: String(metrics.likes ?? 0),
    favoriteCount: "0",
    commentCount: String(metrics.comments ?? commentCount),
  };
}

const PROCESSING = { uploaded: "processing", processed: "succeeded", failed: "failed" } as const;

export function videoView(video: Video, context: VideoContext, parts: ReadonlySet<string>) {
  const processingStatus = PROCESSING[uploadStatusOf(video, context.now)];
  return {
    kind: "youtube#video",
    etag: etagOf([video, context]),
    id: video.id,
    ...chosen(parts, {
      snippet: snippetView(video, context),
      status: status(video, context),
      statistics: statistics(context),
      processingDetails: { processingStatus },
    }),
  };
}

const MAX_IDS = 50;

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

export function listVideos(
  network: YoutubeNetwork,
  { call, channel, now, asOf }: YoutubeCall,
): Reply {
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

export function deleteVideo(network: YoutubeNetwork, { call, channel, now }: YoutubeCall): Reply {
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

export function videoOperations({ query }: Call): Operations {
  const parts = (query.get("part") ?? "").split(",");
  return parts.includes("statistics") ? ["metrics"] : ["status"];
}
