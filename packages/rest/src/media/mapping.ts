import type { Media, VideoFacts } from "@postrider/contracts/media/v1/media_pb";
import type { MediaLinks } from "#src/media/links.ts";
import { toOptionalInstant } from "#src/timestamps.ts";

export function toReadyMedia(
  workspaceId: string,
  media: Media,
  { urlOf }: Pick<MediaLinks, "urlOf">,
) {
  return {
    id: media.id,
    status: "ready",
    kind: media.kind,
    contentType: media.contentType,
    bytes: Number(media.bytes),
    width: media.width,
    height: media.height,
    durationMs: media.durationMs === undefined ? null : Number(media.durationMs),
    sha256: media.sha256,
    fileName: media.fileName,
    altText: media.altText ?? null,
    coverMs: media.coverMs === undefined ? null : Number(media.coverMs),
    video: media.video === undefined ? null : toVideo(media.video),
    url: urlOf(workspaceId, media.id),
    createdAt: toOptionalInstant(media.createdAt),
  };
}

function toVideo({ codec, profile, pixelFormat, fps, audioCodec, fastStart }: VideoFacts) {
  return {
    codec,
    profile: profile ?? null,
    pixelFormat: pixelFormat ?? null,
    fps: fps ?? null,
    audioCodec: audioCodec ?? null,
    fastStart,
  };
}
