import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { MetricsService } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type {
  MetricsConnector,
  MetricsFailure,
  MetricsReading,
  OnFurtherCall,
  PostMetrics,
} from "@postrider/platforms/metrics/connector";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import type { Sql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import { insertPublishedTargets } from "#src/engagement/db/target-metrics.ts";
import { METRICS_END_MS } from "#src/engagement/domain/metrics-schedule.ts";
import { MetricsRefresher } from "#src/engagement/jobs/refresh-metrics.ts";
import { createMetricsRoutes, RefreshesByHand } from "#src/engagement/rpc/refresh-metrics.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { createCaveatReporter } from "#src/publishing/operations/report-caveats.ts";
import {
  DEPLOYMENT,
  insertPublished,
  logger,
  openDatabase,
  World,
  type TestTarget,
} from "../publishing/fixture.ts";

type Answer = ReadonlyMap<string, MetricsReading> | MetricsFailure;

export interface MetricsCall {
  readonly platform: string;
  readonly token: string;
  readonly externalIds: readonly string[];
}

/** Metrics of a post that has only `views`. */
export function viewsOnly(views: number): PostMetrics {
  return {
    views,
    impressions: null,
    reach: null,
    likes: null,
    comments: null,
    shares: null,
    saves: null,
  };
}

/**
 * A platform that returns for each post as many views as the number of requests so far, unless a
 * test scripts other answers.
 */
export class ScriptedPlatform {
  readonly calls: MetricsCall[] = [];
  /** Reactions of the scripted platform to the next calls, in order. */
  readonly reactions: ((
    call: MetricsCall,
    signal: AbortSignal,
    onFurtherCall?: OnFurtherCall,
  ) => Answer | Promise<Answer>)[] = [];
  readonly connector: MetricsConnector;

  constructor(
    platform: PlatformId,
    options: Partial<Pick<MetricsConnector, "maxPosts" | "budget" | "isForeignHost">> = {},
  ) {
    const budget = { scope: "account", calls: 1_000, windowMs: 1_000 } as const;
    this.connector = {
      platform,
      maxPosts: 10,
      budget,
      ...options,
      readMetrics: async ({ accessToken }: AccountAccess, externalIds, signal, onFurtherCall) => {
        const call = { platform, token: accessToken, externalIds };
        this.calls.push(call);
        const react = this.reactions.shift();
        return react === undefined ? this.answer(call) : await react(call, signal, onFurtherCall);
      },
    };
  }

  answer({ externalIds }: MetricsCall): ReadonlyMap<string, MetricsReading> {
    const metrics = viewsOnly(this.calls.length);
    return new Map(externalIds.map((id) => [id, { kind: "metrics", metrics }]));
  }

  /** Makes the scripted platform answer the next call with this failure. */
  fail(failure: MetricsFailure): void {
    this.reactions.push(() => failure);
  }

  /** Makes the scripted platform answer the next call with this result for each post. */
  read(reading: MetricsReading): void {
    this.reactions.push(({ externalIds }) => new Map(externalIds.map((id) => [id, reading])));
  }
}

/** A platform that a test uses: scripted or simulated. */
interface TestedPlatform {
  readonly connector: MetricsConnector;
}

interface ProcessOptions {
  readonly deferMs?: number;
  readonly waitMs?: number;
  readonly sql?: Sql;
  readonly deploymentId?: string;
}

type TargetsOf<P extends readonly PlatformId[]> = { readonly [K in keyof P]: TestTarget };

type CountedTargets<N extends number> = N extends 1
  ? readonly [TestTarget]
  : N extends 2
    ? readonly [TestTarget, TestTarget]
    : N extends 3
      ? readonly [TestTarget, TestTarget, TestTarget]
      : readonly TestTarget[];

/** The metrics part of the delivery service on a database of its own, with scripted platforms. */
export class MetricsStage implements AsyncDisposable {
  readonly world = new World();
  readonly database: TestDatabase;
  readonly sql: Sql;
  readonly platforms: readonly TestedPlatform[];
  readonly #resources = new AsyncDisposableStack();

  private constructor(database: TestDatabase, platforms: readonly TestedPlatform[]) {
    this.database = this.#resources.use(database);
    this.sql = database.sql;
    this.platforms = platforms;
  }

  static async open(...platforms: TestedPlatform[]): Promise<MetricsStage> {
    return new MetricsStage(await openDatabase(10), platforms);
  }

  /** Returns the dependencies of a process of the delivery service. */
  deps({
    deferMs = 300_000,
    sql = this.sql,
    deploymentId = DEPLOYMENT,
    ...more
  }: ProcessOptions = {}) {
    const peer = createTestPeer(this.world.routes);
    return {
      sql,
      logger,
      onEvents: () => undefined,
      reportCaveats: createCaveatReporter({ sql, logger, onEvents: () => undefined }),
      guard: createPublishingGuard({ sql, logger, deploymentId }),
      accounts: {
        credentials: peer.client(CredentialService),
        accounts: peer.client(AccountService),
      },
      connectors: {
        comments: {},
        privateReplies: {},
        metrics: Object.fromEntries(
          this.platforms.map(({ connector }) => [connector.platform, connector]),
        ),
      },
      settings: { metricsDeferMs: deferMs },
      ...more,
    };
  }

  /** Starts a process that serves the RPCs about metrics. */
  serve(options: ProcessOptions = {}) {
    const deps = this.deps(options);
    const byHand = this.#resources.use(new RefreshesByHand(deps));
    const rpc = createTestPeer(createMetricsRoutes({ ...deps, byHand })).client(MetricsService);
    const refresh = async (targets: readonly TestTarget[]) => {
      const [first] = targets;
      const targetIds = targets.map(({ targetId }) => targetId);
      return await rpc.refreshMetrics({
        workspaceId: first?.workspaceId ?? "",
        postId: first?.postId ?? "",
        targetIds,
      });
    };
    return { byHand, rpc, refresh };
  }

  /** Creates a process that refreshes due metrics; the test starts each pass. */
  refresher(options: ProcessOptions = {}): MetricsRefresher {
    return new MetricsRefresher(this.deps(options));
  }

  /**
   * Publishes one post, on one new account per platform. The metrics part of the delivery service
   * gets no event about it.
   */
  async publish<P extends readonly PlatformId[]>(...platforms: P): Promise<TargetsOf<P>> {
    const first = this.world.addTarget({ platform: platforms[0] ?? "x" });
    const { workspaceId, postId } = first;
    const others = platforms
      .slice(1)
      .map((platform) => this.world.addTarget({ platform, workspaceId, postId }));
    return (await this.#insert([first, ...others])) as TargetsOf<P>;
  }

  async #insert(targets: readonly TestTarget[]): Promise<readonly TestTarget[]> {
    await insertPublished(
      this.sql,
      targets.map((target) => ({ target, externalId: externalIdOf(target) })),
    );
    return targets;
  }

  /** Publishes posts of one account whose metrics are due. They were published an hour ago. */
  async publishDue<N extends number>(
    count: N,
    platform: PlatformId = "x",
    given: Partial<Pick<TestTarget, "workspaceId">> = {},
  ): Promise<CountedTargets<N>> {
    const first = this.world.addTarget({ platform, ...given });
    const { workspaceId, accountId } = first;
    const others = Array.from({ length: count - 1 }, () =>
      this.world.addTarget({ platform, workspaceId, accountId }),
    );
    const targets = await this.#insert([first, ...others]);
    await this.sql`update publish_tasks set published_at = now() - interval '61 minutes' where published_at is null`;
    await this.schedule(targets);
    return targets as CountedTargets<N>;
  }

  /**
   * Passes published targets to the metrics part of the delivery service as the consumer of their
   * events does.
   */
  async schedule(targets: readonly TestTarget[]): Promise<void> {
    const targetIds = targets.map(({ targetId }) => targetId);
    const platforms = this.platforms.map(({ connector }) => connector.platform);
    await this.sql.begin((tx) =>
      insertPublishedTargets(tx, { targetIds, platforms, endMs: METRICS_END_MS }),
    );
  }

  async readRow(target: TestTarget) {
    const [row] = await this.sql<
      {
        views: number | null;
        refreshedAt: Date | null;
        failureCount: number;
        missingCount: number;
        dueInMinutes: number | null;
      }[]
    >`
      select views::int, refreshed_at, failure_count, missing_count,
        case
          when due_at < 'infinity' then round(extract(epoch from due_at - now()) / 60)::int
        end as due_in_minutes
      from target_metrics
      where target_id = ${target.targetId}`;
    return row;
  }

  async historyOf(target: TestTarget): Promise<readonly (number | null)[]> {
    const rows = await this.sql<{ views: number | null }[]>`
      select views::int
      from target_metric_history
      where target_id = ${target.targetId}
      order by refreshed_at`;
    return rows.map(({ views }) => views);
  }

  /** Returns the ids of the targets whose new metrics were reported by events, in order. */
  async announced(): Promise<readonly string[]> {
    const rows = await this.sql<{ targetId: string }[]>`
      select payload::jsonb ->> 'targetId' as target_id
      from outbox
      where type = 'postrider.engagement.v1.TargetMetricsRefreshed'
      order by id`;
    return rows.map(({ targetId }) => targetId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]();
  }
}

export function externalIdOf({ targetId }: TestTarget): string {
  return `id-of-${targetId}`;
}
