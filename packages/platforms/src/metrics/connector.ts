import type { NoAnswer } from "#src/http/call-platform.ts";
import { number } from "#src/http/platform-answer.ts";
import type { PlatformId } from "#src/platform-id.ts";
import type { Caveat, Failure, TargetErrorCode } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

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
  | { readonly kind: "limited"; readonly message: string; readonly retryAfterMs: number }
  | { readonly kind: "no_answer"; readonly message: string }
  | { readonly kind: "token_refused"; readonly message: string }
  | { readonly kind: "refused"; readonly code: TargetErrorCode; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

export type MetricsReading =
  | {
      readonly kind: "metrics";
      readonly metrics: PostMetrics;
      /** Of a post that the platform has ceased to show to readers. */
      readonly caveat?: Caveat;
    }
  | { readonly kind: "missing" }
  | MetricsFailure;

export type MetricsReadings = ReadonlyMap<string, MetricsReading>;

export type CallBudget =
  | { readonly scope: "account"; readonly calls: number; readonly windowMs: number }
  | {
      /** The limit applies to the calls for all accounts of our app together. */
      readonly scope: "app";
      readonly calls: number;
      readonly windowMs: number;
      readonly isPerPost?: boolean;
    };

/**
 * With the units of the budget that the call uses. A call for fewer than `maxPosts` posts uses a
 * part of a unit if the platform counts posts.
 */
export type OnFurtherCall = (units: number) => void;

export interface MetricsConnector {
  readonly platform: PlatformId;
  readonly maxPosts: number;
  /**
   * What refreshes may use, so that publishing and comments keep the rest. Each connector names the
   * source of its limit.
   */
  readonly budget: CallBudget;
  /** True for a server of the account's owner, whose limits say nothing about other accounts. */
  isForeignHost?(account: AccountAccess): boolean;
  /** The result has one entry per id. */
  readMetrics(
    account: AccountAccess,
    externalIds: readonly string[],
    signal: AbortSignal,
    onFurtherCall?: OnFurtherCall,
  ): Promise<MetricsReadings | MetricsFailure>;
}

export function toMetrics(counters: Partial<PostMetrics>): PostMetrics {
  return {
    views: null,
    impressions: null,
    reach: null,
    likes: null,
    comments: null,
    shares: null,
    saves: null,
    ...counters,
  };
}

export function sumOf(counters: unknown, ...names: readonly string[]): number | null {
  const found = names
    .map((name) => number(counters, name))
    .filter((counter) => counter !== undefined);
  return found.length === 0 ? null : found.reduce((sum, counter) => sum + counter, 0);
}

const DEFAULT_WAIT_MS = 5 * 60_000;

export function toMetricsFailure(failure: Failure | NoAnswer): MetricsFailure {
  const { kind, message } = failure;
  switch (kind) {
    case "no_answer":
      return { kind: failure.isTimeout === true ? "no_answer" : "failed", message };
    case "token_refused":
      return { kind, message };
    case "refused":
      return { kind, code: failure.code, message };
    case "retryable":
      return failure.isLimit === true
        ? { kind: "limited", message, retryAfterMs: failure.retryAfterMs ?? DEFAULT_WAIT_MS }
        : { kind: "failed", message };
  }
}
