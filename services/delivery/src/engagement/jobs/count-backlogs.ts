import type { Sql } from "@postrider/shared/postgres";
import type { Loop } from "@postrider/shared/process/loop";
import { createAgeGauge, createGauge } from "@postrider/shared/telemetry/metrics";
import {
  ACTION_STATES,
  countActions,
  countAutomations,
  countMetrics,
} from "#src/engagement/db/backlog-counts.ts";
import { toBucket } from "#src/engagement/domain/call-budget.ts";
import { ACTION_TYPES } from "#src/engagement/operations/action-metrics.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";
import { startCount } from "#src/operations/start-count.ts";

type Deps = Pick<EngagementDeps, "sql" | "logger" | "connectors">;

const openActions = createGauge(
  "delivery_comment_actions",
  "Open actions on comments of all processes by state: due, paused, limited (waiting for a rate limit), working, or with an unknown outcome.",
  ["type", "state"],
);
const oldestDueAction = createAgeGauge(
  "delivery_oldest_due_comment_action_seconds",
  "How long the oldest claimable action on a comment has been due.",
  ["type"],
);

export async function measureActions(sql: Sql): Promise<void> {
  const counts = await countActions(sql);
  for (const type of ACTION_TYPES) {
    const ofType = new Map(
      counts.filter((each) => each.type === type).map((each) => [each.state, each]),
    );
    for (const state of ACTION_STATES)
      openActions.set({ type, state }, ofType.get(state)?.count ?? 0);
    oldestDueAction.set({ type }, ofType.get("due")?.since);
  }
}

const waitingRuns = createGauge(
  "automation_runs_waiting",
  "Runs of automation rules whose private reply waits to be sent, up to 100,000.",
);
const oldestWaitingRun = createAgeGauge(
  "automation_oldest_waiting_run_seconds",
  "How long ago the oldest run was created whose private reply waits to be sent.",
);
const dueAccounts = createGauge(
  "automation_accounts_due",
  "Accounts of all processes that are due to be polled for new comments.",
);
const oldestDueAccount = createAgeGauge(
  "automation_oldest_due_account_seconds",
  "How long the account has been due that has waited longest to be polled for new comments.",
);
const failingAccounts = createGauge(
  "automation_accounts_failing",
  "Accounts with an active rule whose last 3 polls or more have failed, by platform.",
  ["platform"],
);

export async function measureAutomations({
  sql,
  connectors,
}: Pick<Deps, "sql" | "connectors">): Promise<void> {
  const counts = await countAutomations(sql);
  waitingRuns.set(counts.waiting);
  oldestWaitingRun.set({}, counts.oldestWaitingAt ?? undefined);
  dueAccounts.set(counts.due);
  oldestDueAccount.set({}, counts.oldestDueAt ?? undefined);
  for (const platform of Object.keys(connectors.privateReplies))
    failingAccounts.set({ platform }, counts.failing[platform] ?? 0);
}

const dueMetrics = createGauge(
  "target_metrics_due",
  "Published targets of all processes whose metrics are due for a scheduled refresh, by platform, up to 100,000.",
  ["platform"],
);
const oldestDueMetrics = createAgeGauge(
  "target_metrics_oldest_due_seconds",
  "How long the oldest scheduled refresh of metrics has been due, by platform.",
  ["platform"],
);
const usedBudget = createGauge(
  "target_metrics_budget_used_ratio",
  "Part of the calls that the app, or the busiest account, may make at once and has made, by platform. At 1, scheduled refreshes wait for the budget.",
  ["platform"],
);
const limitedAccounts = createGauge(
  "target_metrics_limited_accounts",
  "Accounts that are asked for no metrics because the platform answered with a rate limit, by platform; -1 if it limits all accounts together.",
  ["platform"],
);

export async function measureMetrics({
  sql,
  connectors,
}: Pick<Deps, "sql" | "connectors">): Promise<void> {
  const byPlatform = new Map(
    Object.values(connectors.metrics).map((connector) => [connector.platform as string, connector]),
  );
  for (const counts of await countMetrics(sql, [...byPlatform.keys()])) {
    const { platform } = counts;
    const connector = byPlatform.get(platform);
    if (connector === undefined) continue;
    const { intervalMs, burst } = toBucket(connector);
    dueMetrics.set({ platform }, counts.due);
    oldestDueMetrics.set({ platform }, counts.oldestDueAt ?? undefined);
    usedBudget.set({ platform }, Math.min(1, counts.usedMs / (intervalMs * burst)));
    limitedAccounts.set({ platform }, counts.isAppLimited ? -1 : counts.limitedAccounts);
  }
}

export function startCountBacklogs(deps: Deps): readonly Loop[] {
  const { sql, logger } = deps;
  const what = "the waiting runs of automation rules";
  return [
    startCount({ logger, what, measure: () => measureAutomations(deps) }),
    startCount({ logger, what: "comment actions", measure: () => measureActions(sql) }),
  ];
}

export function startCountMetrics(deps: Deps): Loop {
  const { logger } = deps;
  const what = "the posts whose metrics are due for a refresh";
  return startCount({ logger, everyMs: 60_000, what, measure: () => measureMetrics(deps) });
}
