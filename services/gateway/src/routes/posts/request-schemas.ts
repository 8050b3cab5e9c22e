import { PLATFORM_IDS } from "@postrider/platforms/registry";
import { Type } from "typebox";
import { CreatedVia, PostOption, PostStatus } from "#src/routes/posts/schemas.ts";
import { Id, LocalDate, ref, Time } from "#src/routes/schema.ts";

type OptionBody = { content?: string; title?: string; privacy?: string; tags?: string[] };

const Content = Type.String({ description: "Main text." });
const AccountIds = Type.Array(Id, { minItems: 1, maxItems: 100, uniqueItems: true });
const MediaIds = Type.Array(Id, { maxItems: 35, uniqueItems: true });
const Options = Type.Unsafe<Record<string, OptionBody>>({
  type: "object",
  maxProperties: 100,
  additionalProperties: ref(PostOption),
  description: "Overrides per platform id or account id; the account wins.",
});

/** What a post says and where it goes. */
const POST = {
  content: Content,
  accountIds: AccountIds,
  mediaIds: Type.Optional(MediaIds),
  options: Type.Optional(Options),
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
      Type.Boolean({ description: "Keep it as a draft; scheduledAt is then only a plan." }),
    ),
    force: Type.Optional(
      Type.Boolean({ description: "Send it although the same content was sent recently." }),
    ),
  },
  { $id: "CreatePost", additionalProperties: false },
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
    options: Type.Optional(Options),
    scheduledAt: Type.Optional(Time),
  },
  {
    $id: "UpdatePost",
    additionalProperties: false,
    minProperties: 1,
    description: "Each field that is sent replaces the whole field.",
  },
);

/** The framework shows its validators an absent body as null; the handler tells it from a null that was sent. */
export const PublishPost = Type.Unsafe<{ readonly force: true } | null>({
  $id: "PublishPost",
  type: ["object", "null"],
  properties: {
    force: {
      type: "boolean",
      const: true,
      description: "Send it although the same content was sent recently.",
    },
  },
  required: ["force"],
  additionalProperties: false,
});

export const ListPostsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: "1 to 100, default 20." }),
    ),
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: "nextCursor of the page before." }),
    ),
    status: Type.Optional(PostStatus),
    platform: Type.Optional(
      Type.Unsafe<string>({
        type: "string",
        enum: [...PLATFORM_IDS],
        description: "Posts with at least one target on it.",
      }),
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

/** All schemas of requests with a name of their own in the API description. */
export const POST_REQUEST_SCHEMAS = [CreatePost, ValidatePost, UpdatePost, PublishPost];
