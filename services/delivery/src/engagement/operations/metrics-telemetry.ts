import { createCounter } from "@postrider/shared/telemetry/metrics";
import type { CountedAs } from "#src/engagement/domain/refresh-outcome.ts";

const refreshesTotal = createCounter(
  "target_metrics_refreshes_total",
  "Refreshes of the metrics of published targets that ended, by platform, trigger (`schedule` or `hand`) and outcome, as in the answer to a refresh by hand.",
  ["platform", "trigger", "outcome"],
);

const callsTotal = createCounter(
  "target_metrics_calls_total",
  "Calls of platforms that read metrics, by platform and trigger. All of them use the budget of the platform; only calls of the schedule wait for it.",
  ["platform", "trigger"],
);

export function countRefresh(refresh: {
  readonly platform: string;
  readonly trigger: "schedule" | "hand";
  readonly countedAs: CountedAs;
}): void {
  const { countedAs, ...labels } = refresh;
  refreshesTotal.inc({ ...labels, outcome: countedAs === "notFound" ? "not_found" : countedAs });
}

export function countCalls(platform: string, trigger: "schedule" | "hand", calls: number): void {
  if (calls > 0) callsTotal.inc({ platform, trigger }, calls);
}
