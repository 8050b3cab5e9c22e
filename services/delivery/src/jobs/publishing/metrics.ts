import { createCounter, createDurationHistogram } from "@postrider/shared/telemetry";
import type { Settlement } from "#src/domain/settle.ts";

const attemptsTotal = createCounter(
  "delivery_attempts_total",
  "Attempts that ended, by how; `unknown` are those whose effect on the platform is not known.",
  ["platform", "outcome"],
);

const targetsTotal = createCounter(
  "delivery_targets_total",
  "Targets that came to an end, by their status and, when failed, the reason.",
  ["platform", "status", "code"],
);

/** How long tasks were ready before a worker took them. */
export const claimLateness = createDurationHistogram(
  "delivery_claim_lateness_seconds",
  "From the instant at which a task was due to its claim.",
  ["platform"],
);

/** Counts what has been written; call it after the commit. */
export function countOutcomes({ updates }: Settlement): void {
  for (const { task, attempt } of updates) {
    const { platform } = task;
    if (attempt?.outcome) attemptsTotal.inc({ platform, outcome: attempt.outcome });
    if (task.status === "published" || task.status === "failed")
      targetsTotal.inc({ platform, status: task.status, code: task.errorCode ?? "" });
  }
}
