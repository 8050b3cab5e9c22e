import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import { PLATFORM_IDS } from "@postrider/platforms/registry";
import {
  createAgeGauge,
  createCounter,
  createDurationHistogram,
} from "@postrider/shared/telemetry/metrics";
import type { Settlement } from "#src/publishing/domain/settle.ts";

/** Reasons of which the first one is worth an alert, so their series are there before it. */
const ALARMING: readonly TargetErrorCode[] = ["missed", "outcome_unknown"];

const attemptsTotal = createCounter(
  "delivery_attempts_total",
  "Attempts that ended, by how; `unknown` are those whose effect on the platform is not known.",
  ["platform", "outcome"],
  PLATFORM_IDS.map((platform) => ({ platform, outcome: "unknown" })),
);

const targetsTotal = createCounter(
  "delivery_targets_total",
  "Targets that came to an end, by their status and, when failed, the reason.",
  ["platform", "status", "code"],
  PLATFORM_IDS.flatMap((platform) =>
    ALARMING.map((code) => ({ platform, status: "failed", code })),
  ),
);

/** How long tasks were ready before a worker took them. */
export const claimLateness = createDurationHistogram(
  "delivery_claim_lateness_seconds",
  "From the instant at which a task was due to its claim.",
  ["platform"],
);

const publishLatency = createDurationHistogram(
  "delivery_publish_latency_seconds",
  "From when a target was to be published, or was commanded to be, to when it was seen published.",
  ["platform"],
);

const claimAge = createAgeGauge(
  "delivery_claim_age_seconds",
  "How long ago this process looked for work and found the database there.",
);

/** Tasks have been claimed, or looked for without a find. */
export function noteClaim(): void {
  claimAge.set({}, new Date());
}

/** Counts what has been written; call it after the commit. */
export function countOutcomes({ updates }: Settlement): void {
  for (const { task, attempt } of updates) {
    const { platform, publishedAt, dueAt } = task;
    if (attempt?.outcome) attemptsTotal.inc({ platform, outcome: attempt.outcome });
    if (attempt?.outcome === "published" && publishedAt !== null)
      publishLatency.observe(
        { platform },
        Math.max(0, publishedAt.getTime() - dueAt.getTime()) / 1000,
      );
    if (task.status === "published" || task.status === "failed")
      targetsTotal.inc({ platform, status: task.status, code: task.errorCode ?? "" });
  }
}
