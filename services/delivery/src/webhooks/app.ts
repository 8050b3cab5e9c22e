import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { Bus } from "@postrider/shared/bus";
import { startConsumers } from "@postrider/shared/bus/consumer";
import type { Peer } from "@postrider/shared/connect/client";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { newId } from "@postrider/shared/ids";
import { openSql, type Sql } from "@postrider/shared/postgres";
import { startCleaningRows } from "@postrider/shared/postgres/clean-rows";
import { watchPool } from "@postrider/shared/postgres/watch";
import { createLookCheck, type Check } from "@postrider/shared/process/health";
import { disposeInOrder, together } from "@postrider/shared/process/lifecycle";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { Config } from "#src/config.ts";
import type { EngagementReader } from "#src/webhooks/clients/objects.ts";
import { WEBHOOK_HANDLERS, WEBHOOKS_GROUP } from "#src/webhooks/consumers/index.ts";
import { deleteOldRevoked } from "#src/webhooks/db/subscriptions.ts";
import { startCancelDeliveries } from "#src/webhooks/jobs/cancel-deliveries.ts";
import { startComposer } from "#src/webhooks/jobs/compose-payloads/compose-payloads.ts";
import { startCountWebhooks } from "#src/webhooks/jobs/count-webhooks.ts";
import { DISPATCHER_SETTINGS } from "#src/webhooks/jobs/dispatch-webhooks/dependencies.ts";
import { startDispatcher } from "#src/webhooks/jobs/dispatch-webhooks/dispatch-webhooks.ts";
import { startKeepPartitions } from "#src/webhooks/jobs/keep-partitions.ts";
import { startTrimHistory } from "#src/webhooks/jobs/trim-history.ts";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";

/** Connections of webhooks alone, so that they and publishing never wait for each other. */
const POOL_SIZE = 6;

interface WebhooksOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly bus: Bus;
  readonly peers: { readonly posts: Peer; readonly accounts: Peer; readonly media: Peer };
  readonly engagement: EngagementReader;
  readonly guard: DeploymentGuard;
  readonly backlogs: Backlogs;
}

/** The consumers and the jobs that turn events into webhook deliveries and send them. */
export interface Webhooks extends AsyncDisposable {
  readonly nudgeDispatcher: () => void;
  /** Fails when this process has not looked for webhook deliveries for over 10 s. */
  readonly check: Check;
}

/** Disposing of it first stops consuming and claiming, then waits for the open attempts. */
export async function startWebhooks({
  config,
  logger,
  bus,
  peers,
  engagement,
  guard,
  backlogs,
}: WebhooksOptions): Promise<Webhooks> {
  const sql = openPool(config);
  const { historyDays, historyBytes, retry } = config.webhooks;
  const partitions = await startKeepPartitions({ sql, logger, historyDays });
  const composer = startComposer({
    ...toComposerDeps(config, peers),
    engagement,
    sql,
    logger,
    backlogs,
    nudgeDispatcher: () => dispatcher.nudge(),
  });
  const dispatcher = startDispatcher({
    sql,
    logger,
    guard,
    owner: newId(),
    sealingKeys: config.handleKeys,
    outbound: { rules: config.outbound },
    random: Math.random,
    nudgeComposer: composer.nudge,
    settings: { ...DISPATCHER_SETTINGS, retry },
  });
  const others = startUpkeep({ sql, logger, historyDays, historyBytes });
  const consumers = await startConsumers(
    { bus, sql, logger, group: WEBHOOKS_GROUP, onCommitted: composer.nudge },
    WEBHOOK_HANDLERS,
  );
  const jobs = together([...consumers, composer, dispatcher, ...others, partitions]);
  const watch = watchPool(sql, "webhooks", POOL_SIZE);
  const pool = { [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) };
  return {
    nudgeDispatcher: dispatcher.nudge,
    check: createLookCheck("webhook deliveries", () => dispatcher.claimAgeMs()),
    [Symbol.asyncDispose]: () => disposeInOrder([jobs, pool, watch]),
  };
}

/** The last partition of a history is dropped up to a day late. */
const DAYS_AFTER_HISTORY = 2;

function startUpkeep(options: {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly historyDays: number;
  readonly historyBytes: number;
}): readonly AsyncDisposable[] {
  const { sql, logger, historyDays } = options;
  return [
    startCancelDeliveries(options),
    startCountWebhooks(options),
    startTrimHistory(options),
    ...startCleaningRows(sql, logger, [
      {
        job: "clean-webhook-subscriptions",
        rows: "revoked webhook subscriptions without history",
        idleMs: 6 * 3_600_000,
        pageRows: 500,
        deleteRows: (of, limit) => deleteOldRevoked(of, historyDays + DAYS_AFTER_HISTORY, limit),
      },
    ]),
  ];
}

function openPool({ databaseUrl, databasePrepare, service }: Config): Sql {
  return openSql({
    url: databaseUrl,
    poolSize: POOL_SIZE,
    applicationName: `${service}-webhooks`,
    prepare: databasePrepare,
  });
}

function toComposerDeps({ webhooks }: Config, peers: WebhooksOptions["peers"]) {
  return {
    posts: peers.posts.client(PostService),
    accounts: peers.accounts.client(AccountService),
    media: peers.media.client(MediaService),
    locale: webhooks.defaultLocale,
  };
}
