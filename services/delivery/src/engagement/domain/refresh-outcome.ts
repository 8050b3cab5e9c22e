import type { PostMetrics } from "@postrider/platforms/metrics/connector";
import type { RefreshEnd } from "./metrics-schedule.ts";

/** The outcome of a request for the metrics of one published target. */
export type RefreshOutcome =
  | { readonly kind: "read"; readonly metrics: PostMetrics }
  /** The post is no longer on the platform. */
  | { readonly kind: "missing" }
  | { readonly kind: "limited" }
  | { readonly kind: "no_answer" }
  /** The platform refused the request, and would refuse it again. */
  | { readonly kind: "refused" }
  /** The account cannot be used until the user connects it again. */
  | { readonly kind: "unusable" }
  /** The access token could not be read or renewed at the moment. */
  | { readonly kind: "unavailable" }
  | { readonly kind: "failed" };

/** The counters in the answer of the RPC RefreshMetrics, without `eligible`, their sum. */
export interface RefreshCounts {
  readonly ready: number;
  readonly notFound: number;
  readonly error: number;
  readonly deferred: number;
  readonly stale: number;
  readonly failed: number;
}

/** The counter in the answer of RefreshMetrics to which a target is added. */
export type CountedAs = keyof RefreshCounts;

/**
 * Returns the counter to which an outcome is added.
 *
 * @param isStored Whether the counters that were read are the newest ones; false if newer ones were
 *   stored before.
 */
export function countAs({ kind }: RefreshOutcome, isStored: boolean): CountedAs {
  switch (kind) {
    case "read":
      return isStored ? "ready" : "stale";
    case "missing":
      return "notFound";
    case "limited":
    case "no_answer":
      return "deferred";
    case "refused":
    case "unusable":
      return "error";
    case "unavailable":
    case "failed":
      return "failed";
    default:
      return kind satisfies never;
  }
}

/** Counts targets by outcome. `eligible` is always the sum of the other counters. */
export function countRefreshes(
  targets: readonly CountedAs[],
): RefreshCounts & { readonly eligible: number } {
  const count = (name: CountedAs) => targets.filter((each) => each === name).length;
  return {
    eligible: targets.length,
    ready: count("ready"),
    notFound: count("notFound"),
    error: count("error"),
    deferred: count("deferred"),
    stale: count("stale"),
    failed: count("failed"),
  };
}

/**
 * Returns what an outcome means for the metrics schedule of the target; undefined if the metrics
 * stay due, because the account or the whole app waits.
 */
export function toRefreshEnd({ kind }: RefreshOutcome): RefreshEnd | undefined {
  switch (kind) {
    case "read":
    case "missing":
    case "refused":
      return kind;
    case "no_answer":
    case "failed":
      return "failed";
    case "limited":
    case "unusable":
    case "unavailable":
      return undefined;
    default:
      return kind satisfies never;
  }
}
