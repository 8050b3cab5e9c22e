import {
  createCounter,
  createDurationHistogram,
  createGauge,
} from "@postrider/shared/telemetry/metrics";
import type { PlannedRun } from "#src/engagement/domain/plan-runs.ts";

export const pollsTotal = createCounter(
  "automation_polls_total",
  "Polls of accounts for new comments, by platform and by how they ended: `read`, `idle` (no rule was active any more), `limited` (a limit of the platform), `unusable` (the account must be connected again), `failed`, or `lost` (another process has taken over).",
  ["platform", "outcome"],
  ["read", "failed", "limited"].flatMap((outcome) =>
    ["instagram", "facebook"].map((platform) => ({ platform, outcome })),
  ),
);

/** A comment that is read twice counts twice. */
export const commentsRead = createCounter(
  "automation_comments_read_total",
  "Comments that polls have read, by platform.",
  ["platform"],
);

export const pollDuration = createDurationHistogram(
  "automation_poll_duration_seconds",
  "Duration of the polls of accounts for new comments.",
  ["platform"],
);

export const pollLateness = createDurationHistogram(
  "automation_poll_lateness_seconds",
  "Time from the instant at which an account was due to be polled to its poll.",
);

const runsTotal = createCounter(
  "automation_runs_total",
  "Runs of automation rules that were created, by what became of them then: `send` (a private reply waits), `sending_blocked`, or the reason for which they were skipped.",
  ["result"],
  [{ result: "send" }, { result: "sending_blocked" }],
);

export const sendingEnabled = createGauge(
  "automation_sending_enabled",
  "1 if the setting AUTOMATION_SENDING of this process allows private replies, else 0.",
);

export function countRuns(planned: readonly PlannedRun[]): void {
  for (const { plan } of planned)
    runsTotal.inc({ result: plan.kind === "send" ? "send" : plan.reason });
}
