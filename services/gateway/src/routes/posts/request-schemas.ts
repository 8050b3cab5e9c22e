import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { CreatedVia, PostOptions, PostStatus } from "@postrider/rest/posts/schemas";
import { enumeration, Id } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { LocalDate, Time } from "#src/routes/schemas.ts";

const Content = Type.String({ description: "Main text." });
const AccountIds = Type.Array(
  Type.String({ ...Id, description: "The id of an account that GET /accounts lists." }),
  { minItems: 1, maxItems: 100, uniqueItems: true },
);
const MediaIds = Type.Array(
  Type.String({
    ...Id,
    description: "The id of media that POST /media/presign or /media/from-url returned.",
  }),
  { maxItems: 35, uniqueItems: true },
);
const POST = {
  content: Content,
  accountIds: AccountIds,
  mediaIds: Type.Optional(MediaIds),
  options: Type.Optional(PostOptions),
  scheduledAt: Type.Optional(Time),
};

export const CreatePost = Type.Object(
  {
    ...POST,
    queueSlot: Type.Optional(
      Type.Boolean({
        description: "Publish at the next free queue slot; not with scheduledAt or isDraft.",
      }),
    ),
    isDraft: Type.Optional(
      Type.Boolean({ description: "Keep it as a draft, which is not published at scheduledAt." }),
    ),
    force: Type.Optional(
      Type.Boolean({ description: "Publish it even if the same content was published recently." }),
    ),
  },
  {
    $id: "CreatePost",
    additionalProperties: false,
    examples: [{ content: "Hello", accountIds: ["01936a5e-7d2b-7000-8000-000000000001"] }],
  },
);

export const ValidatePost = Type.Object(POST, {
  $id: "ValidatePost",
  additionalProperties: false,
});

export const UpdatePost = Type.Object(
  {
    content: Type.Optional(Content),
    accountIds: Type.Optional(AccountIds),
    mediaIds: Type.Optional(MediaIds),
    options: Type.Optional(PostOptions),
    scheduledAt: Type.Optional(Time),
  },
  {
    $id: "UpdatePost",
    additionalProperties: false,
    minProperties: 1,
    description: "Each field that is sent replaces the previous value of the field.",
  },
);

/** The framework passes an absent body as null; the handler refuses a null that was really sent. */
export const PublishPost = Type.Unsafe<{ readonly force: true } | null>({
  $id: "PublishPost",
  type: ["object", "null"],
  properties: {
    force: {
      type: "boolean",
      const: true,
      description:
        "Publish it even if the same content was published recently; otherwise send no body.",
    },
  },
  required: ["force"],
  additionalProperties: false,
});

const EXTENSION = { "x-postrider-extension": true };

export const GetPostQuery = Type.Object(
  {
    waitFor: Type.Optional(
      Type.Unsafe<"final">({
        type: "string",
        enum: ["final"],
        description: "Wait until the post is published, partial, failed or cancelled.",
        ...EXTENSION,
      }),
    ),
    timeoutSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 30,
        description: "Longest wait, 1 to 30 seconds, default 30. Only with waitFor.",
        ...EXTENSION,
      }),
    ),
  },
  { additionalProperties: false },
);

export const ListPostsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: "1 to 100, default 20." }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: "nextCursor of the previous page; leave it out for the first page.",
      }),
    ),
    status: Type.Optional(PostStatus),
    platform: Type.Optional(
      enumeration("PlatformId", PLATFORM_IDS, "Posts with at least one target on this platform."),
    ),
    from: Type.Optional({
      ...LocalDate,
      description: "First UTC date of scheduledAt, or of createdAt where there is none.",
    }),
    to: Type.Optional({ ...LocalDate, description: "Last UTC date of the same, inclusive." }),
    createdVia: Type.Optional(CreatedVia),
  },
  { additionalProperties: false },
);

export const POST_REQUEST_SCHEMAS = [CreatePost, ValidatePost, UpdatePost, PublishPost];
