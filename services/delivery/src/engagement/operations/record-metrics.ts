import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { TargetMetricsRefreshedSchema } from "@postrider/contracts/engagement/v1/engagement_events_pb";
import type { TargetMetricsSchema } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type { PostMetrics } from "@postrider/platforms/metrics/connector";
import { appendEvents, outboxEvent } from "@postrider/shared/outbox";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import {
  type AccountEnd,
  endCalls,
  endRefreshes,
  delayApps,
  lockMetricsAccounts,
  type StoredReading,
  storeReadings,
  type TargetEnd,
} from "#src/engagement/db/metrics-results.ts";
import { type AskedTarget, lockMetricsOf } from "#src/engagement/db/target-metrics.ts";
import type { Bucket } from "#src/engagement/domain/call-budget.ts";
import {
  countAs,
  type CountedAs,
  type NextRefresh,
  planNextRefresh,
  type RefreshOutcome,
  toRefreshEnd,
} from "#src/engagement/domain/metrics-schedule.ts";
import type { EngagementDeps } from "./dependencies.ts";
import type { MetricsAnswer } from "./read-metrics.ts";

export interface EndedQuestion {
  readonly accountId: string;
  readonly platform: string;
  readonly bucket: Bucket;
  readonly trigger: "schedule" | "hand";
  readonly targets: readonly AskedTarget[];
  /** Too old: their metrics are no longer refreshed. */
  readonly expired: readonly AskedTarget[];
  readonly answer: MetricsAnswer;
}

type RecordDeps = Pick<EngagementDeps, "sql" | "onEvents" | "reportCaveats">;

/**
 * Metrics in one transaction, and then what became of the posts. Returns the targets whose metrics
 * are stored as the newest ones.
 */
export async function recordQuestions(
  { sql, onEvents, reportCaveats }: RecordDeps,
  questions: readonly EndedQuestion[],
): Promise<ReadonlySet<string>> {
  const stored = await sql.begin(async (tx) => {
    await lockMetricsAccounts(
      tx,
      questions.map(({ accountId }) => accountId),
    );
    await lockMetricsOf(
      tx,
      questions.flatMap(({ targets, expired }) =>
        [...targets, ...expired].map(({ targetId }) => targetId),
      ),
    );
    const readings = await storeReadings(tx, questions.flatMap(listReadings));
    await appendEvents(tx, readings.map(toEvent));
    await endRefreshes(tx, questions.flatMap(listTargetEnds));
    const ends = questions.map(toAccountEnd);
    await endCalls(tx, ends);
    await delayApps(tx, ends);
    return new Set(readings.map(({ targetId }) => targetId));
  });
  if (stored.size > 0) onEvents();
  await reportCaveats(questions.flatMap(listCaveats));
  for (const question of questions) countOutcomes(question, stored);
  return stored;
}

function outcomeOf({ answer }: EndedQuestion, { targetId }: AskedTarget): RefreshOutcome {
  return answer.outcomes.get(targetId) ?? { kind: "failed" };
}

function listReadings(question: EndedQuestion) {
  return question.targets.flatMap((target) => {
    const outcome = outcomeOf(question, target);
    if (outcome.kind !== "read") return [];
    return [{ targetId: target.targetId, askedAt: target.askedAt, metrics: outcome.metrics }];
  });
}

function listCaveats(question: EndedQuestion) {
  return question.targets.flatMap((target) => {
    const outcome = outcomeOf(question, target);
    if (outcome.kind !== "read" || outcome.caveat === undefined) return [];
    return [{ ...target, caveat: outcome.caveat }];
  });
}

const LEAVE: NextRefresh = { dueInMs: null, failureCount: 0, missingCount: 0 };

function listTargetEnds(question: EndedQuestion): readonly TargetEnd[] {
  const isByHand = question.trigger === "hand";
  const ended = question.targets.map((target) => {
    const outcome = outcomeOf(question, target);
    const isAnswered = outcome.kind === "read" || outcome.kind === "missing";
    const end = isByHand && !isAnswered ? undefined : toRefreshEnd(outcome);
    const { targetId, askedAt } = target;
    const next = end === undefined ? undefined : planNextRefresh(target, end);
    return { targetId, askedAt, next, isByHand, isAnswered };
  });
  const expired = question.expired.map(({ targetId, askedAt }) => ({
    targetId,
    askedAt,
    next: LEAVE,
    isByHand: false,
    isAnswered: false,
  }));
  return [...ended, ...expired];
}

function toAccountEnd({ answer, trigger, ...question }: EndedQuestion): AccountEnd {
  const { bucket } = question;
  const isScheduled = trigger === "schedule";
  const scope = answer.isForeignHost === true ? "account" : bucket.scope;
  // Units of the app are taken before every call, those of an account only by the claim of a
  // scheduled call: a call by hand is charged afterwards, whole.
  const claimedUnits = isScheduled || scope === "app" ? unitsPerCall(question) : 0;
  return {
    accountId: question.accountId,
    platform: question.platform,
    bucket: { ...bucket, scope },
    isScheduled,
    askedAt: [...question.targets, ...question.expired][0]?.askedAt ?? new Date(),
    pauseMs: answer.pauseMs,
    limitedForMs: answer.limitedForMs,
    furtherUnits: Math.max(0, answer.units - claimedUnits),
  };
}

function unitsPerCall({ bucket, targets }: Pick<EndedQuestion, "bucket" | "targets">): number {
  return bucket.isPerPost ? targets.length : 1;
}

function toEvent({ workspaceId, postId, targetId, metrics, refreshedAt }: StoredReading) {
  return outboxEvent(
    TargetMetricsRefreshedSchema,
    { workspaceId, postId, targetId, metrics: toTargetMetrics(metrics, refreshedAt) },
    postId,
  );
}

function countOutcomes(question: EndedQuestion, stored: ReadonlySet<string>): void {
  const { platform, trigger, targets } = question;
  for (const target of targets) {
    const countedAs = countAs(outcomeOf(question, target), stored.has(target.targetId));
    countRefresh({ platform, trigger, countedAs });
  }
}

const refreshesTotal = createCounter(
  "target_metrics_refreshes_total",
  "Refreshes of the metrics of published targets that ended, by platform, trigger (`schedule` or `hand`) and outcome, as in the answer to a refresh by hand.",
  ["platform", "trigger", "outcome"],
);

const callsTotal = createCounter(
  "target_metrics_calls_total",
  "Calls of platforms that read metrics, by platform and trigger. All of them use the budget of the platform. Calls of the schedule wait for it, and refreshes by hand are deferred when the app has no units for the workspace.",
  ["platform", "trigger"],
);

function countRefresh(refresh: {
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

/** A metric that the platform does not report is absent. */
export function toTargetMetrics(
  metrics: PostMetrics,
  refreshedAt: Date,
): MessageInitShape<typeof TargetMetricsSchema> {
  const counters = Object.entries(metrics).filter(([, value]) => value !== null);
  return {
    ...Object.fromEntries(counters.map(([name, value]) => [name, BigInt(value)])),
    refreshedAt: timestampFromDate(refreshedAt),
  };
}
