import { createHash } from "node:crypto";
import type { MetricValues } from "#src/world/reactions.ts";
import { uploadStatusOf, type Video } from "#src/youtube/videos.ts";

export interface VideoContext {
  readonly channelTitle: string;
  readonly metrics: MetricValues;
  readonly commentCount: number;
  readonly now: number;
}

export const VIDEO_PARTS = ["id", "snippet", "status", "statistics", "processingDetails"];

/** The simulator ignores it in conditional requests. */
export function etagOf(resource: unknown): string {
  return createHash("sha1").update(JSON.stringify(resource)).digest("base64url");
}

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
    ...(parts.has("snippet") ? { snippet: snippetView(video, context) } : {}),
    ...(parts.has("status") ? { status: status(video, context) } : {}),
    ...(parts.has("statistics") ? { statistics: statistics(context) } : {}),
    ...(parts.has("processingDetails") ? { processingDetails: { processingStatus } } : {}),
  };
}
