import { Type, type Static } from "typebox";
import { Platform } from "#src/dashboard/parts.ts";
import { Id, Instant, nullable } from "#src/schemas.ts";

const Counter = nullable(Type.Integer({ minimum: 0 }));

const COUNTERS = {
  views: Counter,
  impressions: Counter,
  reach: Counter,
  likes: Counter,
  comments: Counter,
  shares: Counter,
  saves: Counter,
};

/** `GET /app/api/posts/{id}/metrics/history`: oldest reading first, at most 500 per target. */
export const MetricsHistory = Type.Object({
  targets: Type.Array(
    Type.Object({
      targetId: Id,
      accountId: Id,
      platform: Platform,
      points: Type.Array(Type.Object({ at: Instant, ...COUNTERS })),
      /** When the counters are read next; null = not any more. */
      nextReadAt: nullable(Instant),
    }),
  ),
});

/**
 * `GET /app/api/metrics?from=&to=&accountId=&platform=`: sums over the publications of the
 * workspace by the UTC day on which they were published, and the posts that were seen most. At most
 * 92 days. The sums are of the newest reading of each publication; null = no platform gives it.
 */
export const MetricsSums = Type.Object({
  days: Type.Array(
    Type.Object({
      day: Type.String({ format: "date" }),
      publications: Type.Integer({ minimum: 0 }),
      ...COUNTERS,
    }),
  ),
  total: Type.Object({ publications: Type.Integer({ minimum: 0 }), ...COUNTERS }),
  /** The 20 posts that were seen most, by views, else impressions, else reach. */
  posts: Type.Array(
    Type.Object({
      postId: Id,
      /** Largest of views, impressions and reach per publication, summed. */
      seen: Type.Integer({ minimum: 0 }),
      publications: Type.Integer({ minimum: 0 }),
      publishedAt: Instant,
      /**
       * How often it was seen after each six of its first 48 hours, as far as it is as old and
       * there were readings.
       */
      line: Type.Array(Type.Integer({ minimum: 0 })),
      ...COUNTERS,
    }),
  ),
  /** Whether the range has more than 20,000 publications; only the newest were summed. */
  isMore: Type.Boolean(),
});

export type MetricsHistoryJson = Static<typeof MetricsHistory>;
export type MetricsSumsJson = Static<typeof MetricsSums>;
