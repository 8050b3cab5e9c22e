import type { Reply } from "#src/http/call.ts";
import type { YoutubeNetwork } from "#src/youtube/network.ts";
import type { Upload } from "#src/youtube/uploads.ts";
import { contextOf } from "#src/youtube/video-list.ts";
import { videoView } from "#src/youtube/video-view.ts";
import type { Video } from "#src/youtube/videos.ts";

export function makeVideo(network: YoutubeNetwork, upload: Upload, now: number): Video {
  const received = network.uploads.read(upload);
  const video = network.videos.add({
    channel: upload.channel,
    metadata: network.world.settings.values.audited
      ? upload.metadata
      : { ...upload.metadata, privacyStatus: "private" },
    bytes: upload.storedBytes,
    createdAt: now,
    ...(received?.kind === "video" ? { received } : {}),
  });
  network.uploads.complete(upload, video.id);
  return video;
}

interface VideoReply {
  readonly status: number;
  readonly parts: ReadonlySet<string>;
  readonly now: number;
}

export function videoReply(
  network: YoutubeNetwork,
  video: Video,
  { status, parts, now }: VideoReply,
): Reply {
  return { status, body: videoView(video, contextOf(network, video, { now, asOf: now }), parts) };
}
