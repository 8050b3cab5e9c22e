import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MediaSchema, VideoFactsSchema } from "@postrider/contracts/media/v1/media_pb";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { VideoFacts } from "#src/domain/videos/video-layout.ts";

/** Fields that only the check can determine are unset before it. */
export function toMedia(media: StoredMedia): MessageInitShape<typeof MediaSchema> {
  return {
    id: media.id,
    workspaceId: media.workspaceId,
    status: media.status,
    kind: media.kind,
    contentType: media.contentType,
    bytes: BigInt(media.bytes),
    fileName: media.fileName,
    createdAt: timestampFromDate(media.createdAt),
    frames: media.frames ?? 0,
    ...(media.width === null ? {} : { width: media.width }),
    ...(media.height === null ? {} : { height: media.height }),
    ...(media.durationMs === null ? {} : { durationMs: BigInt(media.durationMs) }),
    ...(media.sha256 === null ? {} : { sha256: media.sha256 }),
    ...(media.altText === null ? {} : { altText: media.altText }),
    ...(media.coverMs === null ? {} : { coverMs: BigInt(media.coverMs) }),
    ...(media.video === null ? {} : { video: toVideo(media.video) }),
    ...toDelivery(media),
  };
}

function toVideo(video: VideoFacts): MessageInitShape<typeof VideoFactsSchema> {
  const { codec, profile, pixelFormat, fps, audioCodec, fastStart, fragmented } = video;
  return {
    codec,
    fastStart,
    fragmented,
    ...(profile === null ? {} : { profile }),
    ...(pixelFormat === null ? {} : { pixelFormat }),
    ...(fps === null ? {} : { fps }),
    ...(audioCodec === null ? {} : { audioCodec }),
  };
}

function toDelivery({ deliveryBytes, deliverySha256, deliveryContentType }: StoredMedia) {
  if (deliveryBytes === null || deliverySha256 === null || deliveryContentType === null) return {};
  return { deliveryBytes: BigInt(deliveryBytes), deliverySha256, deliveryContentType };
}
