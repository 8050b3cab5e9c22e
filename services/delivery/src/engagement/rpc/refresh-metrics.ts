import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import {
  MetricsService,
  type RefreshMetricsRequest,
  type RefreshMetricsResponseSchema,
} from "@postrider/contracts/engagement/v1/metrics_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { serveMethods } from "@postrider/shared/connect/methods";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { Sql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { runBeyondRequest } from "@postrider/shared/telemetry/request-context";
import { fetchCredentials } from "#src/clients/accounts.ts";
import {
  type AskedTarget,
  claimByHand,
  insertPublishedTargets,
  listTargetMetrics,
  type StoredMetrics,
  type TargetsOfPost,
} from "#src/engagement/db/target-metrics.ts";
import { costOfRefresh, toBucket } from "#src/engagement/domain/call-budget.ts";
import {
  countAs,
  type CountedAs,
  countRefreshes,
  METRICS_END_MS,
  type RefreshOutcome,
} from "#src/engagement/domain/metrics-schedule.ts";
import { takeAppUnits } from "#src/engagement/operations/app-units.ts";
import type {
  EngagementConnectors,
  EngagementDeps,
} from "#src/engagement/operations/dependencies.ts";
import { type MetricsAnswer, readMetrics } from "#src/engagement/operations/read-metrics.ts";
import {
  countCalls,
  recordQuestions,
  toTargetMetrics,
} from "#src/engagement/operations/record-metrics.ts";
import { listMetricsHistory, sumMetrics } from "./sum-metrics.ts";

interface MetricsRpcDeps {
  readonly sql: Sql;
  readonly connectors: Pick<EngagementConnectors, "metrics">;
  readonly byHand: RefreshesByHand;
}

export function createMetricsRoutes(deps: MetricsRpcDeps): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, MetricsService, { refreshMetrics, listMetricsHistory, sumMetrics });
  };
}

const MAX_TARGETS = 100;

/** Leaves out targets of other posts, unpublished ones, and platforms without metrics. */
async function refreshMetrics(
  deps: MetricsRpcDeps,
  request: RefreshMetricsRequest,
): Promise<MessageInitShape<typeof RefreshMetricsResponseSchema>> {
  const targets = parseRequest(deps, request);
  const eligible = await listOrInsert(deps, targets);
  const counted = await deps.byHand.refresh(targets);
  const stored = await listTargetMetrics(deps.sql, targets);
  return {
    ...countRefreshes(eligible.map(({ targetId }) => counted.get(targetId) ?? "deferred")),
    targets: stored.flatMap(({ targetId, metrics, refreshedAt }) =>
      refreshedAt === null ? [] : [{ targetId, metrics: toTargetMetrics(metrics, refreshedAt) }],
    ),
  };
}

function parseRequest(
  { connectors }: MetricsRpcDeps,
  { workspaceId, postId, targetIds }: RefreshMetricsRequest,
): TargetsOfPost {
  const violations = [
    ...(targetIds.length > MAX_TARGETS ? [{ code: "too_many", path: "/targetIds" }] : []),
    ...([workspaceId, postId, ...targetIds].every(isId) ? [] : [{ code: "invalid_id" }]),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
  const platforms = Object.keys(connectors.metrics);
  return { workspaceId, postId, targetIds: [...new Set(targetIds)], platforms };
}

/** Inserts a row for a target about which no event has arrived yet. */
async function listOrInsert(
  { sql }: MetricsRpcDeps,
  targets: TargetsOfPost,
): Promise<readonly StoredMetrics[]> {
  const known = await listTargetMetrics(sql, targets);
  if (known.length === targets.targetIds.length) return known;
  await sql.begin((tx) => insertPublishedTargets(tx, { ...targets, endMs: METRICS_END_MS }));
  return await listTargetMetrics(sql, targets);
}

const WAIT_MS = 9_500;
/** A call may continue after its caller has stopped waiting. */
const CALL_MS = 30_000;
const MAX_QUEUE_MS = 20_000;
/** From the claim to the recording: the queue, the platform call and two token renewals. */
const LEASE_MS = 90_000;
/** Open calls of this process, in total and of one workspace (`perKey`); others wait. */
const CALLS = { total: 32, perKey: 8, maxWaiting: 1_000, maxWaitMs: MAX_QUEUE_MS };

type ByHandDeps = Pick<
  EngagementDeps,
  "sql" | "logger" | "accounts" | "connectors" | "onEvents" | "reportCaveats"
> & {
  readonly settings: Pick<EngagementDeps["settings"], "metricsDeferMs">;
  /** Of a caller. Only tests set it. */
  readonly waitMs?: number;
};

/** A caller waits for a limited time; a refresh that takes longer continues and is recorded. */
export class RefreshesByHand implements AsyncDisposable {
  readonly #deps: ByHandDeps;
  readonly #calls = new Semaphore(CALLS);
  readonly #open = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(deps: ByHandDeps) {
    this.#deps = deps;
  }

  /** Returns the outcomes of the refreshes that end before the caller's wait does. */
  async refresh(targets: TargetsOfPost): Promise<ReadonlyMap<string, CountedAs>> {
    const { sql, settings, waitMs = WAIT_MS } = this.#deps;
    const endsAt = performance.now() + waitMs;
    const times = { deferMs: settings.metricsDeferMs, leaseMs: LEASE_MS };
    const claimed = await claimByHand(sql, targets, times);
    const counted = new Map<string, CountedAs>();
    if (claimed.length === 0) return counted;
    const asking = runBeyondRequest(() => this.#askAll(claimed, counted));
    const work = asking.finally(() => this.#open.delete(work));
    this.#open.add(work);
    await waitAtMost(work, endsAt - performance.now());
    return new Map(counted);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#open);
  }

  async #askAll(claimed: readonly AskedTarget[], counted: Map<string, CountedAs>): Promise<void> {
    const accounts = [...Map.groupBy(claimed, ({ accountId }) => accountId).values()];
    const credentials = await this.#fetchCredentials(accounts.flatMap(([target]) => target ?? []));
    await Promise.all(
      accounts.map(async (targets, index) => {
        try {
          await this.#askAndRecord(targets, credentials?.[index], counted);
        } catch (error) {
          for (const { targetId } of targets) counted.set(targetId, "failed");
          this.#deps.logger.warn(
            { err: error, accountId: targets[0]?.accountId },
            "metrics that an API request refreshed could not be stored; another request can refresh them after 90 seconds",
          );
        }
      }),
    );
  }

  /** Returns undefined if the accounts service does not answer. */
  async #fetchCredentials(
    accounts: readonly AskedTarget[],
  ): Promise<readonly (Credential | undefined)[] | undefined> {
    try {
      return await fetchCredentials(this.#deps.accounts, accounts);
    } catch (error) {
      this.#deps.logger.warn(
        { err: error },
        "an API request could not refresh metrics because the accounts service returned no credentials; the client can repeat the request",
      );
      return undefined;
    }
  }

  async #askAndRecord(
    targets: readonly AskedTarget[],
    credential: Credential | undefined,
    counted: Map<string, CountedAs>,
  ): Promise<void> {
    const [first] = targets;
    const connector =
      first !== undefined && isPlatformId(first.platform)
        ? this.#deps.connectors.metrics[first.platform]
        : undefined;
    if (first === undefined || connector === undefined) return;
    const { accountId, platform } = first;
    const answer = await this.#ask(connector, targets, credential);
    failpoint("delivery.after-metrics-call");
    countCalls(platform, "hand", answer.calls);
    const bucket = toBucket(connector);
    const question = { accountId, platform, bucket, targets, expired: [], answer };
    const stored = await recordQuestions(this.#deps, [{ ...question, trigger: "hand" }]);
    for (const [targetId, outcome] of answer.outcomes)
      counted.set(targetId, countAs(outcome, stored.has(targetId)));
  }

  async #ask(
    connector: Parameters<typeof readMetrics>[1],
    targets: readonly AskedTarget[],
    credential: Credential | undefined,
  ): Promise<MetricsAnswer> {
    const [account] = targets;
    if (account === undefined || credential === undefined)
      return withoutCall(targets, { kind: "unavailable" });
    const { signal } = this.#stopping;
    let permit: Disposable;
    try {
      permit = await this.#calls.acquire({ key: account.workspaceId, signal });
    } catch {
      // Thrown when too many requested refreshes of metrics wait already, or when the process
      // stops.
      return withoutCall(targets, { kind: "no_answer" });
    }
    using _permit = permit;
    const { platform, workspaceId } = account;
    const cost = costOfRefresh(connector, targets.length);
    const isCounted = cost !== undefined && connector.isForeignHost?.(credential) !== true;
    if (isCounted && (await takeAppUnits(this.#deps.sql, { platform, workspaceId, cost })))
      return withoutCall(targets, { kind: "limited" });
    const callSignal = AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]);
    return await readMetrics(this.#deps, connector, account, credential, targets, callSignal);
  }
}

function withoutCall(targets: readonly AskedTarget[], outcome: RefreshOutcome): MetricsAnswer {
  return {
    outcomes: new Map(targets.map(({ targetId }) => [targetId, outcome])),
    calls: 0,
    units: 0,
    pauseMs: 0,
    limitedForMs: 0,
  };
}

async function waitAtMost(work: Promise<void>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, ms));
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
