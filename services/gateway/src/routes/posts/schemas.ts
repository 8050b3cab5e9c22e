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
  TargetErrorCode,
} from "@postrider/rest/posts/schemas";
import { enumeration, Id, Instant, named, nullable, ref } from "@postrider/rest/schemas";
import { type Static, Type } from "typebox";

export const PostOption = Type.Object(
  {
    content: Type.Optional(Type.String({ description: "Replaces the content." })),
    title: Type.Optional(Type.String()),
    privacy: Type.Optional(enumeration("Privacy", ["public", "unlisted", "private"])),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  },
  { $id: "PostOption", additionalProperties: false },
);

/** The overrides of a post: fields that replace those of the post on one platform or account. */
export const PostOptions = named(
  "PostOptions",
  Type.Unsafe<Record<string, Static<typeof PostOption>>>({
    type: "object",
    maxProperties: 100,
    additionalProperties: ref(PostOption),
    description:
      'Overrides per platform id or account id, such as {"x":{"content":"Short"}}; those of the account take precedence.',
  }),
);

const Attempt = Type.Object(
  {
    accountId: Id,
    number: Type.Integer({ minimum: 1 }),
    startedAt: nullable(Instant),
    finishedAt: nullable(Instant),
    outcome: enumeration(
      "AttemptOutcome",
      ["published", "retry", "failed", "unknown"],
      "retry: another attempt follows. unknown: the platform may have published it.",
    ),
    code: nullable(TargetErrorCode),
    message: nullable(Type.String()),
  },
  { $id: "Attempt" },
);

export const PostDetail = Type.Object(
  {
    ...POST_PROPERTIES,
    options: PostOptions,
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
    targets: Type.Array(
      named("ValidTarget", Type.Object({ accountId: Id, platform: ref(PlatformIdSchema) })),
    ),
  },
  { $id: "ValidPost" },
);

const DeleteTarget = Type.Object(
  {
    accountId: Id,
    platform: ref(PlatformIdSchema),
    status: enumeration(
      "DeleteTargetStatus",
      ["deleting", "deleted", "delete_failed", "not_supported", "not_published"],
      "not_supported: the platform cannot delete posts, so the publication remains. not_published: nothing was published.",
    ),
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
