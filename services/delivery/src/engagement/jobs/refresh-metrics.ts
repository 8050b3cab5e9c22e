import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { MetricsConnector } from "@postrider/platforms/metrics/connector";
import type { ISql } from "@postrider/shared/postgres";
import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import { failpoint } from "@postrider/shared/process/failpoints";
import { findCredentials } from "#src/calls/worker.ts";
import { insertApps } from "#src/engagement/db/app-budgets.ts";
import {
  claimDueTargets,
  dueAccounts,
  type ClaimedAccount,
  type ClaimedTarget,
} from "#src/engagement/db/metrics-claims.ts";
import { NO_WORKSPACE } from "#src/engagement/db/metrics-turns.ts";
import { toBucket, WANTED_MS } from "#src/engagement/domain/call-budget.ts";
import { METRICS_END_MS } from "#src/engagement/domain/metrics-schedule.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";
import { type MetricsAnswer, readMetrics } from "#src/engagement/operations/read-metrics.ts";
import {
  countCalls,
  type EndedQuestion,
  recordQuestions,
} from "#src/engagement/operations/record-metrics.ts";

/** Disposing of the result aborts the open calls and records their outcomes. */
export function startRefreshMetrics(deps: RefreshMetricsDeps): AsyncDisposable {
  const refresher = new MetricsRefresher(deps);
  let emptyAt = Number.NEGATIVE_INFINITY;
  const loop = startDueLoop({
    sql: deps.sql,
    isDue: (sql) => refresher.isDue(sql),
    idleMs: IDLE_MS,
    work: async () => {
      const leftMs = emptyAt + EMPTY_MS - performance.now();
      if (leftMs > 0) return leftMs;
      const waitMs = await refresher.pass();
      if (waitMs === IDLE_MS) emptyAt = performance.now();
      return waitMs;
    },
    onError: (error) =>
      deps.logger.warn(
        { err: error, job: "refresh-metrics" },
        "metrics of published posts could not be refreshed; the job refresh-metrics tries again",
      ),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      refresher.stop();
      await loop[Symbol.asyncDispose]();
      await refresher.end();
    },
  };
}

type RefreshMetricsDeps = Pick<
  EngagementDeps,
  "sql" | "logger" | "guard" | "accounts" | "connectors" | "onEvents" | "reportCaveats"
>;

/** Wait between two passes while calls are open or metrics are due. */
const PASS_MS = 500;
/** After a pass that found nothing: what is due may wait for its platform's budget of calls. */
const EMPTY_MS = 5_000;
const IDLE_MS = 60_000;
/** Per process, so that a platform that does not answer delays no other. */
const MAX_CALLS_PER_PLATFORM = 20;
/**
 * Maximum number of targets per second, over all platforms, whose metrics this process requests. It
 * keeps the load on the database and on the consumers of the events small beside that of
 * publishing.
 */
const TARGETS_PER_SECOND = 50;
/** Targets that one pass may claim. */
const MAX_ALLOWANCE = 25;
const CALL_MS = 30_000;
/** From the claim to the recording: credentials, the platform call and a token renewal. */
const LEASE_MS = 90_000;
/** Metrics due within this time are refreshed with the due ones of the account, to save calls. */
const AHEAD_MS = 10 * 60_000;
/** How much later than planned the last refresh of a post's metrics may be. */
const GRACE_MS = 3_600_000;

type Claim = ClaimedAccount & { readonly connector: MetricsConnector };

/** All processes together make one call per account at a time, and keep to the budgets. */
export class MetricsRefresher {
  readonly #deps: RefreshMetricsDeps;
  readonly #connectors: readonly MetricsConnector[];
  readonly #stopping = new AbortController();
  readonly #open = new Map<Promise<void>, MetricsConnector>();
  readonly #ended: EndedQuestion[] = [];
  #areAppsKnown = false;
  /** Targets that may be claimed now; below 0 after a claim of more than were allowed. */
  #allowance = MAX_ALLOWANCE;
  #passedAt = performance.now();
  /** By platform, the workspace after which the next claim continues. */
  readonly #after = new Map<string, string>();
  /** The platform whose targets the next pass claims first, so that each is first in turn. */
  #first = 0;

  constructor(deps: RefreshMetricsDeps) {
    this.#deps = deps;
    this.#connectors = Object.values(deps.connectors.metrics);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async end(): Promise<void> {
    await Promise.all(this.#open.keys());
    await this.#record();
  }

  isDue(sql: ISql) {
    const platforms = this.#connectors.map(({ platform }) => platform);
    return sql`exists (${dueAccounts(sql, platforms)})`;
  }

  async pass(): Promise<number> {
    await this.#record();
    if (!(await this.#deps.guard.isOwn())) return IDLE_MS;
    await this.#prepare();
    const claims = await this.#claim();
    if (claims.length > 0) this.#start(claims);
    return claims.length > 0 || this.#open.size > 0 ? PASS_MS : IDLE_MS;
  }

  async #prepare(): Promise<void> {
    const now = performance.now();
    const gained = ((now - this.#passedAt) / 1000) * TARGETS_PER_SECOND;
    this.#allowance = Math.min(MAX_ALLOWANCE, this.#allowance + gained);
    this.#passedAt = now;
    if (this.#areAppsKnown) return;
    const apps = this.#connectors.filter(({ budget }) => budget.scope === "app");
    await insertApps(
      this.#deps.sql,
      apps.map(({ platform }) => platform),
    );
    this.#areAppsKnown = true;
  }

  async #claim(): Promise<readonly Claim[]> {
    const { length } = this.#connectors;
    const order = this.#connectors.map(
      (_, index) => this.#connectors[(this.#first + index) % length],
    );
    this.#first = (this.#first + 1) % Math.max(1, length);
    const claims: Claim[] = [];
    for (const connector of order)
      if (connector !== undefined) claims.push(...(await this.#claimOf(connector)));

    return claims;
  }

  async #claimOf(connector: MetricsConnector): Promise<readonly Claim[]> {
    const { platform, maxPosts } = connector;
    const open = [...this.#open.values()].filter((each) => each === connector).length;
    const maxAccounts = MAX_CALLS_PER_PLATFORM - open;
    if (maxAccounts <= 0 || this.#allowance <= 0) return [];
    const { accounts, after } = await claimDueTargets(this.#deps.sql, {
      platform,
      after: this.#after.get(platform) ?? NO_WORKSPACE,
      maxAccounts,
      maxTargets: maxPosts,
      enoughTargets: this.#allowance,
      bucket: toBucket(connector),
      leaseMs: LEASE_MS,
      wantedMs: WANTED_MS,
      aheadMs: maxPosts > 1 ? AHEAD_MS : 0,
      endMs: METRICS_END_MS + GRACE_MS,
    });
    this.#after.set(platform, after);
    const asked = accounts.flatMap(({ targets }) => targets.filter(({ isExpired }) => !isExpired));
    this.#allowance -= asked.length;
    return accounts.map((account) => ({ ...account, connector }));
  }

  /** If the accounts service does not answer, the accounts wait for a minute. */
  #start(claims: readonly Claim[]): void {
    const calls = claims.map((claim) => ({ ...claim, cause: null }));
    const credentials = findCredentials(this.#deps, calls);
    for (const [index, claim] of claims.entries()) this.#ask(claim, credentials[index]);
  }

  #ask(claim: Claim, asked: Promise<Credential | undefined> | undefined): void {
    const { connector, accountId } = claim;
    const { platform } = connector;
    const [expired, targets] = splitExpired(claim.targets);
    const work = this.#read(claim, asked, targets).then((answer) => {
      countCalls(platform, "schedule", answer.calls);
      const bucket = toBucket(connector);
      const question = { accountId, platform, bucket, targets, expired, answer };
      this.#ended.push({ ...question, trigger: "schedule" });
      this.#open.delete(work);
    });
    this.#open.set(work, connector);
  }

  async #read(
    claim: Claim,
    asked: Promise<Credential | undefined> | undefined,
    targets: readonly ClaimedTarget[],
  ): Promise<MetricsAnswer> {
    if (targets.length === 0)
      return { outcomes: new Map(), calls: 0, units: 0, pauseMs: 0, limitedForMs: 0 };
    const credential = await asked;
    if (credential === undefined) {
      const outcomes = targets.map(({ targetId }) => [targetId, { kind: "unavailable" }] as const);
      return { outcomes: new Map(outcomes), calls: 0, units: 0, pauseMs: 60_000, limitedForMs: 0 };
    }
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(CALL_MS)]);
    const { connector } = claim;
    const answer = await readMetrics(this.#deps, connector, claim, credential, targets, signal);
    failpoint("delivery.after-metrics-call");
    return answer;
  }

  /** Results that cannot be recorded are dropped: the lease ends, the platform is asked again. */
  async #record(): Promise<void> {
    const ended = this.#ended.splice(0);
    if (ended.length === 0) return;
    try {
      await recordQuestions(this.#deps, ended);
    } catch {
      // The results are recorded one by one, so that a result which the database refuses does not
      // prevent the others from being recorded.
      for (const question of ended) await this.#recordAlone(question);
    }
  }

  async #recordAlone(question: EndedQuestion): Promise<void> {
    const { accountId } = question;
    try {
      await recordQuestions(this.#deps, [question]);
    } catch (error) {
      this.#deps.logger.warn(
        { err: error, accountId, job: "refresh-metrics" },
        "the metrics of an account's posts could not be stored; the platform is asked for them again",
      );
    }
  }
}

function splitExpired(
  targets: readonly ClaimedTarget[],
): readonly [expired: readonly ClaimedTarget[], others: readonly ClaimedTarget[]] {
  const groups = Map.groupBy(targets, ({ isExpired }) => isExpired);
  return [groups.get(true) ?? [], groups.get(false) ?? []];
}
