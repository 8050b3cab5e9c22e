import { Type } from "typebox";
import { enumeration, Id, Instant, nullable } from "#src/schemas.ts";

const VideoFacts = Type.Object(
  {
    codec: Type.String({ description: "For example `h264`, `hevc`, `vp9` or `mpeg4`." }),
    profile: nullable(Type.String({ description: "For example `high` or `main 10`." })),
    pixelFormat: nullable(
      Type.String({ description: "For example `yuv420p` (8 bits) or `yuv422p10`." }),
    ),
    fps: nullable(Type.Number({ description: "Mean number of frames per second." })),
    audioCodec: nullable(
      Type.String({ description: "For example `aac`; null for a video without sound." }),
    ),
    fastStart: Type.Boolean({
      description:
        "Whether the index lies in front of the frames, so that a player can begin at once.",
    }),
  },
  {
    $id: "VideoFacts",
    description:
      "How a video is encoded, as its container says: an extension. Null for images, and for videos that an earlier version stored.",
    "x-postrider-extension": true,
  },
);

export const ReadyMedia = Type.Object(
  {
    id: Id,
    status: Type.Unsafe<string>({ type: "string", const: "ready" }),
    kind: enumeration("MediaKind", ["image", "video"]),
    contentType: Type.String(),
    bytes: Type.Integer(),
    width: Type.Integer(),
    height: Type.Integer(),
    durationMs: nullable(Type.Integer()),
    sha256: Type.String(),
    fileName: Type.String(),
    altText: nullable(
      Type.String({
        description: "Description for people who do not see the picture or video.",
        "x-postrider-extension": true,
      }),
    ),
    coverMs: nullable(
      Type.Integer({
        description: "Time in the video, in milliseconds, of the picture that stands for it.",
        "x-postrider-extension": true,
      }),
    ),
    video: nullable(VideoFacts),
    url: Type.String({
      format: "uri",
      description: "Signed at each read, valid for a limited time, and usable without an API key.",
    }),
    createdAt: Instant,
  },
  { $id: "ReadyMedia" },
);
