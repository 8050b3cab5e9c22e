import { Type, type Static } from "typebox";
import { PlatformIdSchema } from "#src/platform-id.ts";
import { Id, Instant, nullable, ref } from "#src/schemas.ts";

export const PostStatus = Type.Unsafe<string>({
  type: "string",
  enum: ["draft", "scheduled", "publishing", "published", "partial", "failed", "cancelled"],
});

export const CreatedVia = Type.Unsafe<string>({
  type: "string",
  enum: ["mcp", "rest", "dashboard"],
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

export const TargetError = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    retryable: Type.Boolean({
      description: "Whether a retry can succeed without anything being changed first.",
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
    permalink: nullable(Type.String()),
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

const SummaryTarget = Type.Object({
  accountId: Id,
  platform: ref(PlatformIdSchema),
  status: TargetStatus,
  permalink: nullable(Type.String()),
  errorCode: nullable(Type.String()),
});

export const PostSummary = Type.Object(
  { ...POST_PROPERTIES, targets: Type.Array(SummaryTarget) },
  { $id: "PostSummary" },
);
