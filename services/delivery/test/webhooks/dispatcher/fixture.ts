import { createSecretKey, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { deriveTimedId, newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { wakeSubscriptions } from "#src/webhooks/db/leases.ts";
import { insertSecret } from "#src/webhooks/db/secrets.ts";
import type { DispatcherSettings } from "#src/webhooks/jobs/dispatch-webhooks/dependencies.ts";
import {
  startDispatcher,
  type Dispatcher,
  type DispatcherOptions,
} from "#src/webhooks/jobs/dispatch-webhooks/dispatch-webhooks.ts";
import { logger, openDatabase } from "../../publishing/fixture.ts";

export const SEALING_KEYS = [{ id: "k1", secret: createSecretKey(Buffer.alloc(32, 7)) }];
export const RULES = { allow: [{ address: "127.0.0.1", fromPort: 1, toPort: 65_535 }] };

/**
 * Opens a database in which the webhook history has the partitions of yesterday, today and
 * tomorrow.
 */
export async function openWebhookDatabase(poolSize = 8) {
  const database = await openDatabase(poolSize);
  for (const parent of ["webhook_events", "webhook_deliveries", "webhook_attempts"])
    await database.sql`
      select create_day_partitions(${parent}, (now() - interval '1 day')::date, (now() + interval '1 day')::date)`;
  return database;
}

export interface TestSubscription {
  readonly id: string;
  readonly workspaceId: string;
  readonly secret: string;
}

export interface SubscriptionInput {
  readonly url: string;
  readonly workspaceId?: string;
  readonly maxPerSecond?: number | null;
  readonly status?: string;
  readonly events?: readonly string[];
}

export async function insertTestSecret(
  sql: Sql,
  subscription: Pick<TestSubscription, "id" | "workspaceId">,
  secret: string,
): Promise<void> {
  const { id: subscriptionId, workspaceId } = subscription;
  await sql.begin((tx) =>
    insertSecret(tx, SEALING_KEYS, { id: newId(), subscriptionId, workspaceId, secret }),
  );
}

export async function insertSubscription(
  sql: Sql,
  input: SubscriptionInput,
): Promise<TestSubscription> {
  const { url, workspaceId = newId(), maxPerSecond = null, status = "active" } = input;
  const id = newId();
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  await sql`
    insert into webhook_subscriptions (id, workspace_id, url, description, events, status, signing, max_per_second)
    values (${id}, ${workspaceId}, ${url}, '', ${[...(input.events ?? ["*"])]}, ${status}, 'hmac-sha256', ${maxPerSecond})`;
  await sql`
    insert into webhook_leases (subscription_id, workspace_id)
    values (${id}, ${workspaceId})`;
  await insertTestSecret(sql, { id, workspaceId }, secret);
  return { id, workspaceId, secret };
}

export interface TestDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly payload: string;
}

export interface DeliveryInput {
  readonly attemptCount?: number;
  readonly isManual?: boolean;
  readonly traceparent?: string;
}

/**
 * Inserts webhook deliveries of new events to a subscription that are due now, as the job
 * `compose-payloads` does.
 */
export async function insertDeliveries(
  sql: Sql,
  { id: subscriptionId, workspaceId }: Pick<TestSubscription, "id" | "workspaceId">,
  count: number,
  { attemptCount = 0, isManual = false, traceparent }: DeliveryInput = {},
): Promise<readonly TestDelivery[]> {
  const deliveries = Array.from({ length: count }, () => {
    const eventId = newId();
    const payload = JSON.stringify({ id: eventId, type: "post.published", workspaceId });
    return { id: deriveTimedId(new Date(), `${subscriptionId} ${eventId}`), eventId, payload };
  });
  const cause = traceparent === undefined ? {} : { traceparent };
  const rows = deliveries.map(({ id, eventId, payload }) => ({ id, event_id: eventId, payload }));
  await sql.begin(async (tx) => {
    const records = tx`jsonb_to_recordset(${tx.json(rows)}) as r(id uuid, event_id uuid, payload text)`;
    await tx`
      insert into webhook_events (id, workspace_id, type, payload, cause)
      select event_id, ${workspaceId}, 'post.published', payload, ${tx.json(cause)} from ${records}`;
    await tx`
      insert into webhook_deliveries (id, subscription_id, workspace_id, event_id, event_type, attempt_count)
      select id, ${subscriptionId}, ${workspaceId}, event_id, 'post.published', ${attemptCount} from ${records}`;
    await tx`
      insert into webhook_queue (delivery_id, subscription_id, event_id, attempt_count, is_manual)
      select id, ${subscriptionId}, event_id, ${attemptCount}, ${isManual} from ${records}`;
    await wakeSubscriptions(tx, [subscriptionId]);
  });
  return deliveries;
}

export type TestDispatcherOptions = Partial<Omit<DispatcherOptions, "settings">> & {
  readonly settings?: Partial<DispatcherSettings>;
};

export function startTestDispatcher(sql: Sql, options: TestDispatcherOptions = {}): Dispatcher {
  return startDispatcher({
    sql,
    logger,
    guard: { isHeld: () => Promise.resolve(false) },
    owner: newId(),
    sealingKeys: SEALING_KEYS,
    outbound: { rules: RULES },
    random: () => 0.5,
    nudgeComposer: () => undefined,
    ...options,
  });
}

export interface ReceivedRequest {
  readonly webhookId: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface TestReceiver extends AsyncDisposable {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** Maximum number of requests to the webhook receiver that were open at a time. */
  readonly maxOpen: number;
}

/** Starts a webhook receiver, which answers 200 unless `answer` does something else. */
export async function startReceiver(
  answer: (response: ServerResponse, request: ReceivedRequest) => void = (response) =>
    void response.end("ok"),
): Promise<TestReceiver> {
  const received: ReceivedRequest[] = [];
  let open = 0;
  let maxOpen = 0;
  const server = createServer((request, response) => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    response.once("close", () => (open -= 1));
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const webhookId = String(request.headers["webhook-id"]);
      const seen = { webhookId, headers: request.headers, body };
      received.push(seen);
      answer(response, seen);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=1`,
    received,
    get maxOpen() {
      return maxOpen;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export interface StoredDelivery {
  readonly status: string;
  readonly attemptCount: number;
  readonly nextAttemptAt: Date | null;
}

export async function readDelivery(sql: Sql, id: string): Promise<StoredDelivery> {
  const rows = await sql<StoredDelivery[]>`
    select status, attempt_count, next_attempt_at from webhook_deliveries where id = ${id}`;
  const [row] = rows;
  if (row === undefined) throw new Error("the delivery does not exist");
  return row;
}

export async function countByStatus(
  sql: Sql,
  subscriptionId: string,
): Promise<Readonly<Record<string, number>>> {
  const rows = await sql<{ status: string; count: number }[]>`
    select status, count(*)::int as count
    from webhook_deliveries
    where subscription_id = ${subscriptionId}
    group by status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** Waits until a webhook delivery has ended its given number of attempts. */
export async function attempted(sql: Sql, id: string, attempts: number): Promise<StoredDelivery> {
  return await eventually(async () => {
    const delivery = await readDelivery(sql, id);
    return delivery.attemptCount >= attempts && delivery;
  });
}
