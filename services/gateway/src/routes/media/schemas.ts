import { ReadyMedia } from "@postrider/rest/media/schemas";
import { Id, Instant, nullable } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { HTTP_URL } from "#src/routes/schemas.ts";

/**
 * Maximum length of a file name in characters, longer than any file system allows; a longer name is
 * refused. The file name is only shown to people.
 */
const MAX_FILE_NAME_LENGTH = 1_000;
const MAX_URL_LENGTH = 8_192;

export const PresignUpload = Type.Object(
  {
    fileName: Type.String({ maxLength: MAX_FILE_NAME_LENGTH }),
    contentType: Type.String({
      description:
        "The actual media type of the file; `application/octet-stream` if the client does not know it.",
    }),
    bytes: Type.Integer({ minimum: 1, description: "The exact length of the file." }),
  },
  { $id: "PresignUpload", additionalProperties: false },
);

export const ImportMedia = Type.Object(
  {
    url: Type.String({
      format: "uri",
      pattern: HTTP_URL,
      maxLength: MAX_URL_LENGTH,
      description: "http or https, at a public address.",
    }),
  },
  { $id: "ImportMedia", additionalProperties: false },
);

export const UpdateMedia = Type.Object(
  {
    altText: Type.Optional(
      nullable(
        Type.String({
          maxLength: 1_500,
          description:
            "Description for people who do not see the picture or video; null, or white space only, removes it.",
        }),
      ),
    ),
    coverMs: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            "Time in the video, in milliseconds, of the picture that stands for it; null lets the platform choose.",
        }),
      ),
    ),
  },
  { $id: "UpdateMedia", additionalProperties: false, minProperties: 1 },
);

export const UploadGrant = Type.Object(
  {
    id: Id,
    uploadUrl: Type.String({
      format: "uri",
      description:
        "Accepts a PUT of the bytes, without further headers, until the grant expires. A secret.",
    }),
    uploadPath: Type.String({
      description: "For a PUT to /uploads/{uploadPath} with the token as a bearer token.",
    }),
    uploadToken: Type.String({ description: "A secret." }),
    expiresAt: Instant,
  },
  { $id: "UploadGrant" },
);

export const MediaDeletion = Type.Object(
  { id: Id, status: Type.Unsafe<"deleting">({ type: "string", const: "deleting" }) },
  { $id: "MediaDeletion" },
);

/** Schemas of media operations that the API description lists by name. */
export const MEDIA_SCHEMAS = [
  PresignUpload,
  ImportMedia,
  UpdateMedia,
  UploadGrant,
  ReadyMedia,
  MediaDeletion,
];
