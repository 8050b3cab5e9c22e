import type { CommentsConnector, Missing } from "@postrider/platforms/comments/connector";
import type { PrivateRepliesConnector } from "@postrider/platforms/private-replies/connector";
import type { Failure } from "@postrider/platforms/publishing/outcome";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import type { Sql } from "@postrider/shared/postgres";
import {
  createCounter,
  createDurationHistogram,
  createGauge,
} from "@postrider/shared/telemetry/metrics";
import {
  type CallLimits,
  type PolledAccount,
  takeCalls,
} from "#src/engagement/db/automation-accounts.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import type { PlannedRun } from "#src/engagement/domain/plan-runs.ts";
import type { AutomationDeps } from "#src/engagement/operations/dependencies.ts";
import type { PlatformCalls } from "#src/engagement/operations/platform-calls.ts";
import type { Unavailable, Unusable } from "#src/operations/with-credential.ts";

export interface Poll {
  readonly deps: AutomationDeps;
  readonly account: PolledAccount;
  readonly calls: PollCalls;
  readonly comments: CommentsConnector;
  readonly privateReplies: PrivateRepliesConnector;
  /** Active when the poll began, oldest first. At least one. */
  readonly rules: readonly AutomationRule[];
}

/** Another process has taken over the poll, or the call budget is used up. */
export type NotCalled = { readonly kind: "lost" } | { readonly kind: "exhausted" };

/** Each call renews the lease of the account and uses units of its budget. */
export class PollCalls {
  readonly #sql: Sql;
  readonly #account: PolledAccount;
  readonly #calls: PlatformCalls;
  readonly #limits: CallLimits;
  /** Zero before the first call. */
  unitsLeft = 0;
  unitWaitMs = 0;

  constructor(sql: Sql, account: PolledAccount, calls: PlatformCalls, limits: CallLimits) {
    this.#sql = sql;
    this.#account = account;
    this.#calls = calls;
    this.#limits = limits;
  }

  async make<T extends { readonly kind: string }>(
    units: number,
    call: (access: AccountAccess, signal: AbortSignal) => Promise<T>,
  ) {
    const taken = await takeCalls(this.#sql, this.#account, { ...this.#limits, units });
    if (taken === undefined) return { kind: "lost" } as const;
    this.unitsLeft = taken.unitsLeft;
    this.unitWaitMs = taken.unitWaitMs;
    if (!taken.isTaken) return { kind: "exhausted" } as const;
    return await this.#calls.make(call);
  }
}

/** An account that must be connected again is checked that often; a check costs no call. */
const UNUSABLE_MS = 5 * 60_000;

export interface PollFailure {
  readonly kind: "failed";
  /** A rate limit, an account that the user must connect again, or anything else. */
  readonly cause: "limited" | "unusable" | "failed";
  readonly error: string;
  /** As the platform asked for it. */
  readonly retryAfterMs?: number;
}

type Failed = Exclude<Failure, { kind: "token_refused" }> | Unusable | Unavailable;

/**
 * Returns why the comments on one piece of media could not be read. The list of the account's media
 * could be read before, so a missing permission concerns only this piece of media and not the
 * account.
 */
export function toMediaFailure(result: Failed | Missing): PollFailure {
  if (result.kind === "missing") return { kind: "failed", cause: "failed", error: "media_missing" };
  const failure = toPollFailure(result);
  return failure.error === "permission_missing" ? { ...failure, cause: "failed" } : failure;
}

export function toPollFailure(result: Failed): PollFailure {
  switch (result.kind) {
    case "unusable":
      return { kind: "failed", cause: "unusable", error: result.code, retryAfterMs: UNUSABLE_MS };
    case "unavailable":
      return { kind: "failed", cause: "failed", error: "token_unavailable" };
    case "refused": {
      const isAccount = result.code === "permission_missing" || result.code.startsWith("account_");
      return { kind: "failed", cause: isAccount ? "unusable" : "failed", error: result.code };
    }
    case "retryable": {
      const { code, retryAfterMs, isLimit } = result;
      const cause = isLimit === true || code === "rate_limited" ? "limited" : "failed";
      const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
      return { kind: "failed", cause, error: code, ...wait };
    }
  }
}

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
