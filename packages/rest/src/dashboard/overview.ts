import { Type, type Static } from "typebox";
import { Cure } from "#src/dashboard/cures.ts";
import { BoundedCount, Platform, Words } from "#src/dashboard/parts.ts";
import { Id, Instant, nullable } from "#src/schemas.ts";

/** A post in a cause: enough for a line with a link. */
const CausePost = Type.Object({
  postId: Id,
  /** Null for a scheduled post that will fail. */
  targetId: nullable(Id),
  status: Type.String(),
  /** The first 200 characters. */
  content: Type.String(),
  scheduledAt: nullable(Instant),
  createdAt: Instant,
  permalink: nullable(Type.String()),
  /** The platform's own words; null when it sent none, and for scheduled posts. */
  message: nullable(Type.String()),
});

/** What one cure mends: failures of one account with one code. */
const Cause = Type.Object({
  accountId: Id,
  platform: Platform,
  username: Type.String(),
  code: Type.String(),
  cause: Words,
  cure: Cure,
  /** The platform's own words at the newest failure; null when it sent none. */
  message: nullable(Type.String()),
  /** Posts that failed on this account with this code, among the posts that are counted below. */
  failed: Type.Integer({ minimum: 0 }),
  /** How many of them POST /app/api/accounts/{id}/retry sends again. */
  retryable: Type.Integer({ minimum: 0 }),
  /** Scheduled posts that will fail: the account has to be connected again first. */
  scheduled: Type.Integer({ minimum: 0 }),
  /** The newest five that failed, then the five that are due next. */
  posts: Type.Array(CausePost),
});

/** `GET /app/api/overview`. */
export const Overview = Type.Object({
  /** Posts per status; `all` leaves out nothing. Each is exact up to 1,000. */
  counts: Type.Object({
    all: BoundedCount,
    draft: BoundedCount,
    scheduled: BoundedCount,
    publishing: BoundedCount,
    published: BoundedCount,
    partial: BoundedCount,
    failed: BoundedCount,
    cancelled: BoundedCount,
  }),
  needsYou: Type.Object({
    /**
     * Failed and partly published posts. The causes cover the newest 1,000 of them, and the 1,000
     * scheduled posts that are due next.
     */
    posts: BoundedCount,
    /** Most publications first. At most 100. */
    causes: Type.Array(Cause),
  }),
});

export type CauseJson = Static<typeof Cause>;
export type CausePostJson = Static<typeof CausePost>;
export type OverviewJson = Static<typeof Overview>;
