import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import {
  createAgeGauge,
  createCounter,
  createDurationHistogram,
} from "@postrider/shared/telemetry/metrics";

/** Alerts fire at the first occurrence, so the series exist from the start. */
const ALARMING: readonly TargetErrorCode[] = ["missed", "outcome_unknown"];

export const attemptsTotal = createCounter(
  "delivery_attempts_total",
  "Attempts that ended, by outcome; `unknown` counts attempts of which it is not known whether they published.",
  ["platform", "outcome"],
  PLATFORM_IDS.map((platform) => ({ platform, outcome: "unknown" })),
);

export const targetsTotal = createCounter(
  "delivery_targets_total",
  "Targets that ended, by status and, when failed, the reason.",
  ["platform", "status", "code"],
  PLATFORM_IDS.flatMap((platform) =>
    ALARMING.map((code) => ({ platform, status: "failed", code })),
  ),
);

const REFUSED_FORMS = ["without_text", "without_decision", "nothing"] as const;

/** By what could be recorded instead. */
export const refusedEventsTotal = createCounter(
  "delivery_refused_events_total",
  "Results of targets that could not be recorded as they were, by what was recorded: all but the platform's text, only that the target ended or is searched for again, or nothing.",
  ["recorded"],
  REFUSED_FORMS.map((recorded) => ({ recorded })),
);

/** How long publish tasks were ready before a worker claimed them, in milliseconds. */
export const claimLateness = createDurationHistogram(
  "delivery_claim_lateness_seconds",
  "Time from the instant at which a task was due to its claim.",
  ["platform"],
);

export const publishLatency = createDurationHistogram(
  "delivery_publish_latency_seconds",
  "Time from the instant at which a target was due to the recording of its success.",
  ["platform"],
);

const claimAge = createAgeGauge(
  "delivery_claim_age_seconds",
  "How long ago this process last looked for work successfully.",
);

export function recordClaim(): void {
  claimAge.set({}, new Date());
}
