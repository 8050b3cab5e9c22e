import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CommentActionCompletedSchema } from "@postrider/contracts/engagement/v1/engagement_events_pb";
import { parkEvent } from "@postrider/shared/bus/parking";
import { loadConfig } from "@postrider/shared/config";
import { newId } from "@postrider/shared/ids";
import { openSql, type Sql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { listen } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { startApp } from "#src/app.ts";
import { readSettings } from "#src/config.ts";
import { insertActions } from "#src/engagement/db/comment-actions.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { countWaiting, countWebhooks } from "#src/webhooks/db/counts.ts";
import { countPartitions } from "#src/webhooks/db/partitions.ts";
import { deleteOldRevoked } from "#src/webhooks/db/subscriptions.ts";
import { createMissingPartitions, dropOldPartitions } from "#src/webhooks/jobs/keep-partitions.ts";
import { HistoryTrimmer } from "#src/webhooks/jobs/trim-history.ts";
import { DEPLOYMENT, logger } from "../publishing/fixture.ts";
import { record } from "./compose-fixture.ts";
import { insertSubscription, openWebhookDatabase } from "./dispatcher/fixture.ts";

/** The connection of processes that only send webhooks. */
function webhooksUrl({ url }: TestDatabase): string {
  const changed = new URL(url);
  changed.username = "postrider_delivery_webhooks";
  return changed.toString();
}

function openAsWebhooks(database: TestDatabase): Sql & AsyncDisposable {
  const sql = openSql({ url: webhooksUrl(database), poolSize: 3, applicationName: "test" });
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }) });
}

/** Appends the event that a comment was hidden to the bus, as delivery's other processes do. */
async function reportAction({ sql }: TestDatabase, workspaceId: string): Promise<string> {
  const id = newId();
  await sql.begin((tx) =>
    insertActions(tx, [
      {
        id,
        workspaceId,
        accountId: newId(),
        platform: "instagram",
        mediaId: "m1",
        commentId: "c1",
        type: "hide",
        text: null,
        callKey: "visibility",
        ruleId: null,
        runId: null,
        sendBefore: null,
      },
    ]),
  );
  const occurredAt = timestampFromDate(new Date());
  const message = { workspaceId, actionId: id, version: 1n, occurredAt };
  const { key, headers, value } = record(CommentActionCompletedSchema, message);
  await sql`
    insert into bus.records (topic, key, headers, value)
    values ('engagement.events.v1', ${key}, ${sql.json(headers)}, ${value})`;
  return id;
}

async function freePort(): Promise<number> {
  await using listening = await listen(createTcpServer());
  return listening.port;
}

test("a process with the role of webhooks writes the payload of an event, sends it, and records the attempt", async () => {
  await using database = await openWebhookDatabase();
  const bodies: string[] = [];
  const receiver = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      response.end();
    });
  });
  await using listening = await listen(receiver);
  const { workspaceId } = await insertSubscription(database.sql, { url: listening.url });
  const actionId = await reportAction(database, workspaceId);
  const env = {
    ...createTestIdentities().env("delivery-webhooks"),
    POSTRIDER_ENV: "development",
    DATABASE_URL: webhooksUrl(database),
    DEPLOYMENT_ID: DEPLOYMENT,
    OUTBOUND_ALLOW: listening.address,
    PORT: String(await freePort()),
    METRICS_PORT: "0",
    LOG_LEVEL: "silent",
    ROLE: "webhooks",
    HANDLE_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
  };
  await using _app = await startApp(loadConfig(env, readSettings));
  await eventually(async () => {
    const attempts = await database.sql`
      select status_code, error
      from webhook_attempts
      where workspace_id = ${workspaceId}`;
    expect([...attempts]).toEqual([{ statusCode: 200, error: null }]);
  });
  expect(bodies).toEqual([expect.stringContaining(actionId)]);
});

test("the role of webhooks can do the upkeep of the history, and sees whose data it is", async () => {
  await using database = await openWebhookDatabase();
  await using sql = openAsWebhooks(database);
  await createMissingPartitions({ sql });
  await dropOldPartitions({ sql, historyDays: 30 });
  await new HistoryTrimmer({ sql, logger, historyBytes: 1 }).pass();
  await deleteOldRevoked(sql, 30, 10);
  await countWebhooks(sql, 10);
  await countWaiting(sql, [newId()], 10);
  expect(await countPartitions(sql, { daysAfter: 13, historyDays: 30 })).toEqual({
    missing: 0,
    overdue: 0,
  });
  const guardOf = (deploymentId: string) =>
    createPublishingGuard({ sql, logger, deploymentId, isReadOnly: true });
  expect(await guardOf(DEPLOYMENT).isHeld()).toBe(false);
  expect(await guardOf("copy").isHeld()).toBe(true);
});

test("the role of webhooks can use the tables of webhooks, read what they report, and neither read nor write any other table", async () => {
  await using database = await openWebhookDatabase();
  await using sql = openAsWebhooks(database);
  const tables = await database.sql<{ name: string }[]>`
    select relname as name
    from pg_class
    where relnamespace = 'delivery'::regnamespace
    and relkind in ('r', 'p')
    order by relname`;
  const allowed: Record<string, readonly string[]> = {};
  const rights = ["select", "insert", "update", "delete", "truncate"] as const;
  for (const { name } of tables) {
    const [row] = await sql<{ held: string[] }[]>`
      select array(
        select r
        from unnest(${[...rights]}::text[]) as r
        where has_table_privilege(${name}, r)
      ) as held`;
    if (row !== undefined && row.held.length > 0) allowed[name] = row.held;
  }
  const all = ["select", "insert", "update", "delete"];
  expect(allowed).toEqual({
    automation_runs: ["select"],
    comment_actions: ["select"],
    deployment: ["select"],
    parked_events: ["select", "insert"],
    pauses: ["select"],
    schema_migrations: ["select"],
    webhook_attempts: all,
    webhook_compositions: all,
    webhook_deliveries: all,
    webhook_events: all,
    webhook_leases: all,
    webhook_queue: all,
    webhook_secrets: all,
    webhook_subscriptions: all,
    webhook_usage: all,
    webhook_usage_changes: all,
  });

  await expect(sql`select target_id from publish_tasks`).rejects.toThrow("permission denied");
  await expect(sql`select code from publish_attempts`).rejects.toThrow("permission denied");
  await expect(sql`update comment_actions set text = 'x'`).rejects.toThrow("permission denied");
  await expect(sql`update deployment set trusted_at = now()`).rejects.toThrow("permission denied");
  await expect(sql`update parked_events set payload = 'x'`).rejects.toThrow("permission denied");
  await expect(sql`select event_id from outbox`).rejects.toThrow("permission denied");
});

test("the role of webhooks parks an event that it cannot handle, also a second time", async () => {
  await using database = await openWebhookDatabase();
  await using sql = openAsWebhooks(database);
  const event = { eventId: newId(), type: "t", key: "k", payload: "{}", headers: {} };
  const topic = "posts.events.v1";
  for (const tries of [1, 2])
    await sql.begin((tx) =>
      parkEvent(tx, { direction: "in", topic, event, error: new Error("bad"), tries }),
    );
  expect([...(await sql`select topic, attempt_count from parked_events`)]).toEqual([
    { topic, attemptCount: 3 },
  ]);
});

test("on the Postgres bus, the role of webhooks can append no event, and move only the positions of webhooks", async () => {
  await using database = await openWebhookDatabase();
  await using sql = openAsWebhooks(database);
  const insertPosition = (group: string) =>
    sql`insert into bus.positions (group_name, topic) values (${group}, 'posts.events.v1')`;
  await insertPosition("delivery.webhooks");
  await expect(insertPosition("delivery")).rejects.toThrow("row-level security");
  await expect(
    sql`insert into bus.records (topic, key, headers, value) values ('delivery.events.v1', 'k', '{}', 'v')`,
  ).rejects.toThrow("permission denied");
  await database.sql`insert into bus.positions (group_name, topic) values ('delivery', 'posts.events.v1')`;
  const moved = await sql`update bus.positions set position = 9 where group_name = 'delivery'`;
  expect(moved.count).toBe(0);
});
