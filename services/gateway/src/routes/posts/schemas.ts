import { ReadyMedia } from "@postrider/rest/media/schemas";
import { PlatformIdSchema } from "@postrider/rest/platform-id";
import {
  Metrics,
  OptionalTargetError,
  POST_PROPERTIES,
  PostStatus,
  PostSummary,
  PostTarget,
  TargetError,
} from "@postrider/rest/posts/schemas";
import { Id, Instant, nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";

export const PostOption = Type.Object(
  {
    content: Type.Optional(Type.String({ description: "Replaces the content." })),
    title: Type.Optional(Type.String()),
    privacy: Type.Optional(
      Type.Unsafe<string>({ type: "string", enum: ["public", "unlisted", "private"] }),
    ),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  },
  { $id: "PostOption", additionalProperties: false },
);

const Attempt = Type.Object(
  {
    accountId: Id,
    number: Type.Integer({ minimum: 1 }),
    startedAt: nullable(Instant),
    finishedAt: nullable(Instant),
    outcome: Type.Unsafe<string>({
      type: "string",
      enum: ["published", "retry", "failed", "unknown"],
    }),
    code: nullable(Type.String()),
    message: nullable(Type.String()),
  },
  { $id: "Attempt" },
);

export const PostDetail = Type.Object(
  {
    ...POST_PROPERTIES,
    options: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      additionalProperties: ref(PostOption),
    }),
    queueSlotRuleId: nullable(Id),
    media: Type.Array(ref(ReadyMedia)),
    targets: Type.Array(ref(PostTarget)),
    attempts: Type.Array(ref(Attempt)),
  },
  { $id: "PostDetail" },
);

export const PostList = Type.Object(
  {
    posts: Type.Array(ref(PostSummary)),
    nextCursor: nullable(
      Type.String({
        description:
          "Cursor of the next page, null on the last page. A page with a cursor may have fewer posts than `limit`.",
      }),
    ),
  },
  { $id: "PostList" },
);

export const ValidPost = Type.Object(
  {
    valid: Type.Unsafe<true>({ type: "boolean", const: true }),
    scheduledAt: nullable(Instant),
    targets: Type.Array(Type.Object({ accountId: Id, platform: ref(PlatformIdSchema) })),
  },
  { $id: "ValidPost" },
);

const DeleteTarget = Type.Object(
  {
    accountId: Id,
    platform: ref(PlatformIdSchema),
    status: Type.Unsafe<string>({
      type: "string",
      enum: ["deleting", "deleted", "delete_failed", "not_supported", "not_published"],
      description:
        "not_supported: the platform cannot delete posts, so the publication remains. not_published: nothing was published.",
    }),
    error: OptionalTargetError,
  },
  { $id: "DeleteTarget" },
);

export const PostDeletion = Type.Object(
  { id: Id, status: PostStatus, targets: Type.Array(ref(DeleteTarget)) },
  { $id: "PostDeletion" },
);

/** ETag header of every answer that contains one post. */
export const ETAG = {
  ETag: { type: "string", description: "Changes with every visible change of the post." },
};

/** Schemas of answers about posts that the API description lists by name. */
export const POST_SCHEMAS = [
  PostOption,
  Metrics,
  TargetError,
  PostTarget,
  Attempt,
  PostSummary,
  PostDetail,
  PostList,
  ValidPost,
  DeleteTarget,
  PostDeletion,
];
