import {
  createAgeGauge,
  createCounter,
  createDurationHistogram,
  createGauge,
} from "@postrider/shared/telemetry/metrics";
import type { Attempt } from "#src/webhooks/domain/attempt.ts";

const attemptsTotal = createCounter(
  "webhook_attempts_total",
  "Attempts to send a webhook that ended, by outcome: `succeeded`, or the error.",
  ["outcome"],
  [{ outcome: "succeeded" }],
);

const attemptDuration = createDurationHistogram(
  "webhook_attempt_duration_seconds",
  "Duration of attempts to send a webhook, by whether they succeeded.",
  ["succeeded"],
);

export const webhookLateness = createDurationHistogram(
  "webhook_claim_lateness_seconds",
  "Time from the instant at which a webhook delivery was due to its claim.",
);

/** Counts attempts that the database or our code refused, by what could be recorded instead. */
export const refusedAttemptsTotal = createCounter(
  "webhook_refused_attempts_total",
  "Attempts to send a webhook that could not be recorded as they were, by what was recorded: all but the receiver's texts, or nothing.",
  ["recorded"],
  [{ recorded: "without_text" }, { recorded: "nothing" }],
);

export const disabledTotal = createCounter(
  "webhook_disabled_total",
  "Webhook subscriptions that this process disabled, by reason.",
  ["reason"],
  [{ reason: "gone" }, { reason: "failing" }],
);

const inFlight = createGauge(
  "webhook_attempts_in_flight",
  "Attempts to send a webhook that run in this process, by whether the receiver is fast, slow or not known yet.",
  ["pace"],
);

const leasedSubscriptions = createGauge(
  "webhook_subscriptions_leased",
  "Webhook subscriptions whose deliveries this process sends.",
);

const claimAge = createAgeGauge(
  "webhook_claim_age_seconds",
  "How long ago this process last looked for webhook deliveries successfully.",
);

/** Records that the process has looked for deliveries, whether or not it found any. */
export function recordWebhookClaim(): void {
  claimAge.set({}, new Date());
}

export function countAttempt({ error, durationMs }: Attempt): void {
  attemptsTotal.inc({ outcome: error ?? "succeeded" });
  attemptDuration.observe({ succeeded: String(error === null) }, durationMs / 1000);
}

export function recordLoad(
  running: Readonly<Record<"new" | "fast" | "slow", number>>,
  leases: number,
): void {
  for (const [pace, count] of Object.entries(running)) inFlight.set({ pace }, count);
  leasedSubscriptions.set(leases);
}
