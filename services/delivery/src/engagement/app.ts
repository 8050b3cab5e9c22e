import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { createCommentsConnectors } from "@postrider/platforms/comments/registry";
import { createMetricsConnectors } from "@postrider/platforms/metrics/registry";
import { createPrivateRepliesConnectors } from "@postrider/platforms/private-replies/registry";
import type { Bus } from "@postrider/shared/bus";
import type { Peer } from "@postrider/shared/connect/client";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { openSql, type Sql } from "@postrider/shared/postgres";
import { watchPool } from "@postrider/shared/postgres/watch";
import { disposeInOrder, together } from "@postrider/shared/process/lifecycle";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { Config } from "#src/config.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";

/** Connections to Postgres that engagement has for itself, so that it never delays publishing. */
const POOL_SIZE = 6;

interface EngagementOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly bus: Bus;
  readonly peers: { readonly accounts: Peer };
  /** Says whether this process may act on its data; a copy of the data must not send anything. */
  readonly guard: DeploymentGuard;
  /** Called when this process has appended events to the outbox. */
  readonly onEvents: () => void;
}

/** The consumers and the jobs for comments, automations and metrics. */
export type Engagement = AsyncDisposable;

/** Starts the work on comments, automations and metrics. Disposing of it waits for the open platform calls. */
export async function startEngagement(options: EngagementOptions): Promise<Engagement> {
  const sql = openPool(options.config);
  const jobs = together(await startJobs(createEngagementDeps({ ...options, sql }), options));
  const watch = watchPool(sql, "engagement", POOL_SIZE);
  const pool = { [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) };
  return { [Symbol.asyncDispose]: () => disposeInOrder([jobs, pool, watch]) };
}

async function startJobs(
  _deps: EngagementDeps,
  _options: EngagementOptions,
): Promise<readonly AsyncDisposable[]> {
  return await Promise.resolve([]);
}

/** Returns what the jobs and the RPCs of engagement need. */
export function createEngagementDeps(
  options: Pick<EngagementOptions, "config" | "logger" | "peers" | "guard" | "onEvents"> & {
    readonly sql: Sql;
  },
): EngagementDeps {
  const { config, sql, logger, peers, guard, onEvents } = options;
  return {
    sql,
    logger,
    guard,
    onEvents,
    accounts: {
      credentials: peers.accounts.client(CredentialService),
      accounts: peers.accounts.client(AccountService),
    },
    connectors: {
      comments: createCommentsConnectors(config.platforms),
      privateReplies: createPrivateRepliesConnectors(config.platforms),
      metrics: createMetricsConnectors(config.platforms),
    },
    settings: config.engagement,
  };
}

function openPool({ databaseUrl, databasePrepare, service }: Config): Sql {
  return openSql({
    url: databaseUrl,
    poolSize: POOL_SIZE,
    applicationName: `${service}-engagement`,
    prepare: databasePrepare,
  });
}
