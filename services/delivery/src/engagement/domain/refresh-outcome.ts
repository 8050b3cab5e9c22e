import type { PostMetrics } from "@postrider/platforms/metrics/connector";
import type { RefreshEnd } from "./metrics-schedule.ts";

export type RefreshOutcome =
  | { readonly kind: "read"; readonly metrics: PostMetrics }
  /** The post is not on the platform. */
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

/** Without `eligible`, their sum. */
export interface RefreshCounts {
  readonly ready: number;
  readonly notFound: number;
  readonly error: number;
  readonly deferred: number;
  readonly stale: number;
  readonly failed: number;
}

export type CountedAs = keyof RefreshCounts;

/** @param isStored False if newer metrics were stored before. */
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

/** `eligible` is always the sum of the other counters. */
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

/** Undefined if the metrics stay due, because the account or the whole app waits. */
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
