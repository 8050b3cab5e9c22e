import { createSecretKey } from "node:crypto";
import type { Client } from "@connectrpc/connect";
import { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { deriveCursorKeys } from "@postrider/shared/secrets/list-cursor";
import { createTestDatabase, type TestDatabase } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import { MIGRATIONS } from "#src/config.ts";
import { Backlogs, type WaitingLimits } from "#src/webhooks/operations/backlogs.ts";
import type { WebhookRpcDeps } from "#src/webhooks/rpc/dependencies.ts";
import { createWebhookRoutes } from "#src/webhooks/rpc/routes.ts";
import { logger } from "../publishing/fixture.ts";

export const SEALING_KEYS = [{ id: "k1", secret: createSecretKey(Buffer.alloc(32, 7)) }];

/**
 * The webhooks part of the delivery service on a database of its own, without the jobs that send
 * webhooks.
 */
export interface Webhooks extends AsyncDisposable {
  readonly sql: Sql;
  readonly database: TestDatabase;
  readonly rpc: Client<typeof WebhookService>;
}

export async function startWebhooks(more: Partial<WebhookRpcDeps> = {}): Promise<Webhooks> {
  const database = await createTestDatabase({
    service: "delivery",
    migrationsFolder: MIGRATIONS,
    poolSize: 5,
  });
  const { sql } = database;
  await createPartitions(sql);
  const deps: WebhookRpcDeps = {
    sql,
    logger,
    outbound: { allow: [] },
    sealingKeys: SEALING_KEYS,
    cursorKeys: deriveCursorKeys("delivery", ["secret"]),
    backlogs: createBacklogs(),
    nudgeDispatcher: () => undefined,
    ...more,
  };
  const peer = createTestPeer(createWebhookRoutes(deps));
  return {
    sql,
    database,
    rpc: peer.client(WebhookService),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/**
 * Creates the limits of waiting deliveries as one process has them. Default: those of production.
 */
export function createBacklogs(
  limits: WaitingLimits = { perWorkspace: 100_000, perHost: 50_000 },
): Backlogs {
  return new Backlogs({ limits, logger });
}

/** Creates the partitions of the webhook history for the days around today. */
export async function createPartitions(sql: Sql): Promise<void> {
  await sql`
    select create_day_partitions(name, current_date - 9, current_date + 2)
    from unnest(array['webhook_events', 'webhook_deliveries', 'webhook_attempts']) as name`;
}

/** A valid request to create a webhook subscription, in a workspace of its own. */
export function newWebhook() {
  return {
    workspaceId: newId(),
    url: "https://example.com/hook",
    description: "",
    events: ["post.*"],
    signing: "hmac-sha256",
  };
}
