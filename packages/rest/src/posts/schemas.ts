import { Type, type Static } from "typebox";
import { ReadyMedia } from "#src/media/schemas.ts";
import { PlatformIdSchema } from "#src/platform-id.ts";
import { enumeration, Id, Instant, named, nullable, ref } from "#src/schemas.ts";
import { TARGET_ERROR_CODES } from "#src/target-errors/catalogue.ts";

export const PostStatus = enumeration(
  "PostStatus",
  ["draft", "scheduled", "publishing", "published", "partial", "failed", "cancelled"],
  "partial: published on some accounts, failed on the others. cancelled: deleted after publishing had begun.",
);

export const CreatedVia = enumeration(
  "CreatedVia",
  ["mcp", "rest", "dashboard"],
  "How the post was created: by an agent, by a program with an API key, or in the dashboard.",
);

const TargetStatus = enumeration(
  "TargetStatus",
  [
    "pending",
    "publishing",
    "published",
    "failed",
    "deleting",
    "deleted",
    "delete_failed",
    "cancelled",
  ],
  "Status of a post on one account. cancelled: never sent, because the post was deleted first.",
);

/** Why a target, an attempt or an action on a comment failed. */
export const TargetErrorCode = enumeration(
  "TargetErrorCode",
  TARGET_ERROR_CODES,
  "Why it failed on the platform. More codes may be added: treat an unknown one like `platform_unavailable`, and go by `retryable`.",
);

export const TargetError = Type.Object(
  {
    code: TargetErrorCode,
    message: Type.String({
      description: "The platform's own words where it sent any, otherwise what happened.",
    }),
    retryable: Type.Boolean({
      description: "Whether a retry can succeed without anything being changed first.",
    }),
    action: Type.String({
      description:
        "What to do next: our advice beside the platform's words. For people, in English or Korean; it may change.",
      "x-postrider-extension": true,
    }),
  },
  { $id: "TargetError" },
);

export const OptionalTargetError = Type.Unsafe<Static<typeof TargetError> | null>({
  anyOf: [{ type: "null" }, ref(TargetError)],
});

const Counter = nullable(Type.Integer({ minimum: 0 }));

export const Metrics = Type.Object(
  {
    views: Counter,
    impressions: Counter,
    reach: Counter,
    likes: Counter,
    comments: Counter,
    shares: Counter,
    saves: Counter,
    refreshedAt: Instant,
  },
  {
    $id: "Metrics",
    description: "Counters of the published post. Null = the platform does not give the counter.",
  },
);

const OptionalMetrics = Type.Unsafe<Static<typeof Metrics> | null>({
  anyOf: [{ type: "null" }, ref(Metrics)],
  description: "Null until the platform was asked for them once.",
});

export const PostTarget = Type.Object(
  {
    id: Id,
    accountId: Id,
    platform: ref(PlatformIdSchema),
    username: Type.String(),
    status: TargetStatus,
    externalId: nullable(Type.String()),
    permalink: nullable(Type.String({ format: "uri", description: "URL of the post." })),
    publishedAt: nullable(Instant),
    error: OptionalTargetError,
    attemptCount: Type.Integer(),
    nextAttemptAt: nullable(Instant),
    metrics: OptionalMetrics,
  },
  { $id: "PostTarget" },
);

/** Properties that the short and the long form of a post share. */
export const POST_PROPERTIES = {
  id: Id,
  status: PostStatus,
  content: Type.String(),
  scheduledAt: nullable(Instant),
  startedAt: nullable(Instant),
  publishedAt: nullable(Instant),
  createdVia: CreatedVia,
  createdAt: Instant,
  updatedAt: Instant,
  mediaIds: Type.Array(Id),
};

const PostTargetSummary = named(
  "PostTargetSummary",
  Type.Object(
    {
      accountId: Id,
      platform: ref(PlatformIdSchema),
      status: TargetStatus,
      permalink: nullable(Type.String({ format: "uri" })),
      errorCode: nullable(TargetErrorCode),
    },
    { description: "A post on one account, in a list of posts." },
  ),
);

export const PostSummary = Type.Object(
  { ...POST_PROPERTIES, targets: Type.Array(PostTargetSummary) },
  { $id: "PostSummary" },
);

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

export const Attempt = Type.Object(
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

export const DeleteTarget = Type.Object(
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

/** A post in the forms in which the posts service writes it. */
export type PostDetailJson = Static<typeof PostDetail>;
export type PostSummaryJson = Static<typeof PostSummary>;
export type PostTargetJson = Static<typeof PostTarget>;
export type PostListJson = Static<typeof PostList>;
export type PostDeletionJson = Static<typeof PostDeletion>;
export type MetricsJson = Static<typeof Metrics>;
