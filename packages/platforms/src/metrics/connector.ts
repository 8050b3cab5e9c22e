import type { PlatformId } from "#src/platform-id.ts";
import type { TargetErrorCode } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

/** The counters of a post under the names of the REST API. Null = the platform does not give the counter. */
export interface PostMetrics {
  readonly views: number | null;
  readonly impressions: number | null;
  readonly reach: number | null;
  readonly likes: number | null;
  readonly comments: number | null;
  readonly shares: number | null;
  readonly saves: number | null;
}

/** Why the metrics of a post, or of all posts of a call, could not be read. */
export type MetricsFailure =
  /** A rate limit: no further call is made for `retryAfterMs` milliseconds. */
  | { readonly kind: "limited"; readonly message: string; readonly retryAfterMs: number }
  /** The call had no answer in time. */
  | { readonly kind: "no_answer"; readonly message: string }
  | { readonly kind: "token_refused"; readonly message: string }
  /** The platform refused definitely (4xx); the same call would be refused again. */
  | { readonly kind: "refused"; readonly code: TargetErrorCode; readonly message: string }
  /** A server error, a broken connection or an unreadable answer. */
  | { readonly kind: "failed"; readonly message: string };

/** What the platform answered about one post. */
export type MetricsReading =
  | { readonly kind: "metrics"; readonly metrics: PostMetrics }
  /** The post is no longer on the platform. */
  | { readonly kind: "missing" }
  | MetricsFailure;

/** The number of calls that the platform allows in a time window. */
export type CallBudget =
  | { readonly scope: "account"; readonly calls: number; readonly windowMs: number }
  | {
      /** The limit holds for the calls for all accounts of our app together. */
      readonly scope: "app";
      readonly calls: number;
      readonly windowMs: number;
      /** Whether the platform counts each post in a call as one call. */
      readonly isPerPost?: boolean;
    };

/**
 * Function that is called for each platform call of one reading of metrics except the first call, with the units of the
 * call budget that the call uses. A call for fewer than `maxPosts` posts uses a part of a unit if the platform counts
 * posts.
 */
export type OnFurtherCall = (units: number) => void;

/** Reads the counters of published posts on one platform. */
export interface MetricsConnector {
  readonly platform: PlatformId;
  /** Maximum number of posts of one account whose metrics one call reads. */
  readonly maxPosts: number;
  /**
   * The part of the platform's limit that scheduled refreshes may use, so that publishing, comments and refreshes that
   * clients request keep the rest. Each platform's connector names the source of its limit.
   */
  readonly budget: CallBudget;
  /**
   * Reads the metrics of at most `maxPosts` posts of one account. The result has one entry per id.
   */
  readMetrics(
    account: AccountAccess,
    externalIds: readonly string[],
    signal: AbortSignal,
    onFurtherCall?: OnFurtherCall,
  ): Promise<ReadonlyMap<string, MetricsReading> | MetricsFailure>;
}
