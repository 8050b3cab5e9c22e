import { Type } from "typebox";
import { enumeration, Id, Instant, nullable } from "#src/schemas.ts";

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
    url: Type.String({
      format: "uri",
      description: "Signed at each read, valid for a limited time, and usable without an API key.",
    }),
    createdAt: Instant,
  },
  { $id: "ReadyMedia" },
);
