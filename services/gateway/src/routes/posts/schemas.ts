import { Type } from "typebox";
import { PlatformIdSchema } from "#src/routes/platforms/schemas.ts";
import { Id, Instant, nullable, ref } from "#src/routes/schema.ts";

const PostStatus = Type.Unsafe<string>({
  type: "string",
  enum: ["draft", "scheduled", "publishing", "published", "partial", "failed", "cancelled"],
});
const TargetStatus = Type.Unsafe<string>({
  type: "string",
  enum: [
    "pending",
    "publishing",
    "published",
    "failed",
    "deleting",
    "deleted",
    "delete_failed",
    "cancelled",
  ],
});

export const PostOption = Type.Object(
  {
    content: Type.Optional(Type.String({ description: "Replaces the text." })),
    title: Type.Optional(Type.String()),
    privacy: Type.Optional(
      Type.Unsafe<string>({ type: "string", enum: ["public", "unlisted", "private"] }),
    ),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  },
  { $id: "PostOption", additionalProperties: false },
);

export const CreatePost = Type.Object(
  {
    content: Type.String({ description: "Main text." }),
    accountIds: Type.Array(Id, { minItems: 1, maxItems: 100, uniqueItems: true }),
    mediaIds: Type.Optional(Type.Array(Id, { maxItems: 35, uniqueItems: true })),
    options: Type.Optional(
      Type.Unsafe<
        Record<string, { content?: string; title?: string; privacy?: string; tags?: string[] }>
      >({
        type: "object",
        maxProperties: 100,
        additionalProperties: ref(PostOption),
        description: "Overrides per platform id or account id; the account wins.",
      }),
    ),
  },
  { $id: "CreatePost", additionalProperties: false },
);

export const TargetError = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    retryable: Type.Boolean({
      description: "Whether a retry can help without a person changing something.",
    }),
  },
  { $id: "TargetError" },
);

const Metrics = Type.Unsafe<null>({ type: "null", description: "Not collected yet." });

export const PostTarget = Type.Object(
  {
    id: Id,
    accountId: Id,
    platform: ref(PlatformIdSchema),
    username: Type.String(),
    status: TargetStatus,
    externalId: nullable(Type.String()),
    permalink: nullable(Type.String()),
    publishedAt: nullable(Instant),
    error: Type.Unsafe<{ code: string; message: string; retryable: boolean } | null>({
      anyOf: [{ type: "null" }, ref(TargetError)],
    }),
    attemptCount: Type.Integer(),
    nextAttemptAt: nullable(Instant),
    metrics: Metrics,
  },
  { $id: "PostTarget" },
);

export const ReadyMedia = Type.Object(
  {
    id: Id,
    status: Type.Unsafe<string>({ type: "string", const: "ready" }),
    kind: Type.Unsafe<string>({ type: "string", enum: ["image", "video"] }),
    contentType: Type.String(),
    bytes: Type.Integer(),
    width: Type.Integer(),
    height: Type.Integer(),
    durationMs: nullable(Type.Integer()),
    sha256: Type.String(),
    fileName: Type.String(),
    createdAt: Instant,
  },
  { $id: "ReadyMedia" },
);

export const Attempt = Type.Object(
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

const SUMMARY = {
  id: Id,
  status: PostStatus,
  content: Type.String(),
  scheduledAt: nullable(Instant),
  startedAt: nullable(Instant),
  publishedAt: nullable(Instant),
  createdVia: Type.Unsafe<string>({ type: "string", enum: ["mcp", "rest", "dashboard"] }),
  createdAt: Instant,
  updatedAt: Instant,
  mediaIds: Type.Array(Id),
};

const SummaryTarget = Type.Object({
  accountId: Id,
  platform: ref(PlatformIdSchema),
  status: TargetStatus,
  permalink: nullable(Type.String()),
  errorCode: nullable(Type.String()),
});

export const PostSummary = Type.Object(
  { ...SUMMARY, targets: Type.Array(SummaryTarget) },
  { $id: "PostSummary" },
);

export const PostDetail = Type.Object(
  {
    ...SUMMARY,
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
  { posts: Type.Array(ref(PostSummary)), nextCursor: nullable(Type.String()) },
  { $id: "PostList" },
);

export const ListPostsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({ pattern: "^([1-9]|[1-9][0-9]|100)$", description: "1 to 100, default 20." }),
    ),
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: "nextCursor of the page before." }),
    ),
  },
  { additionalProperties: false },
);

export const CreatePostHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Repeats with the same key count once, for 24 hours.",
    }),
  ),
});

/** All schemas with a name of their own in the API description. */
export const POST_SCHEMAS = [
  PostOption,
  CreatePost,
  TargetError,
  PostTarget,
  ReadyMedia,
  Attempt,
  PostSummary,
  PostDetail,
  PostList,
];
