import { deriveTimedId, newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { countPages } from "@postrider/shared/testing/explain";
import { afterAll, expect, test } from "vitest";
import { lockWaiting } from "#src/webhooks/db/cancellations.ts";
import { listDeliveries, storedDeliveries } from "#src/webhooks/db/history.ts";
import { dropOldPartitions } from "#src/webhooks/jobs/keep-partitions.ts";
import { newWebhook, startWebhooks } from "./fixture.ts";

const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const DAY_MS = 86_400_000;
const NO_FILTER = { status: undefined, eventType: undefined };
const BODY_BYTES = 16 * 1024;
const FIRST_PAGE = { ...NO_FILTER, limit: 20, maxBytes: 1_000_000, before: undefined };
const SENDING_PAGE = { ...FIRST_PAGE, status: "delivering" } as const;

const webhooks = await startWebhooks();
afterAll(() => webhooks[Symbol.asyncDispose]());

interface TestDelivery {
  readonly type: string;
  readonly status: string;
  readonly isSending?: boolean;
  readonly payloadBytes?: number;
  readonly attempts?: number;
}

/**
 * Creates a webhook subscription with deliveries in its history, oldest first, in addition to
 * webhook.test.
 */
async function createHistory(deliveries: readonly TestDelivery[]) {
  const request = newWebhook();
  const { webhook } = await webhooks.rpc.createWebhook(request);
  const webhookId = webhook?.id ?? "";
  await webhooks.sql`
    delete from webhook_deliveries
    where subscription_id = ${webhookId}`;
  const start = Date.now() - DAY_MS;
  const ids = deliveries.map((_each, index) =>
    deriveTimedId(new Date(start + index * 60_000), `${webhookId} ${index}`),
  );
  for (const [index, delivery] of deliveries.entries())
    await insertDelivery({ ...request, webhookId, id: ids[index] ?? "" }, delivery);
  return { workspaceId: request.workspaceId, webhookId, ids: ids.toReversed() };
}

async function insertDelivery(
  at: { readonly workspaceId: string; readonly webhookId: string; readonly id: string },
  delivery: TestDelivery,
) {
  const { sql } = webhooks;
  const { type, status, isSending = false, payloadBytes = 0, attempts = 0 } = delivery;
  const payload = JSON.stringify({ text: "x".repeat(payloadBytes) });
  await sql`
    insert into webhook_events (id, workspace_id, type, payload)
    values (${at.id}, ${at.workspaceId}, ${type}, ${payload})`;
  await sql`
    insert into webhook_deliveries (id, subscription_id, workspace_id, event_id, event_type, status, attempt_count)
    values (${at.id}, ${at.webhookId}, ${at.workspaceId}, ${at.id}, ${type}, ${status}, ${attempts})`;
  if (status === "pending")
    await sql`
      insert into webhook_queue (delivery_id, subscription_id, event_id, sending_until)
      values (${at.id}, ${at.webhookId}, ${at.id}, now() + ${isSending ? 60 : -60} * interval '1 second')`;
  await sql`
    insert into webhook_attempts (
      delivery_id, number, workspace_id, started_at, duration_ms, status_code, error, request_headers,
      response_headers, response_body
    )
    select ${at.id}, number, ${at.workspaceId}, '2026-11-20T10:00:00Z', 12, 500, 'http_error',
      '{"webhook-id": "a"}', '{"server": "b"}', repeat('y', ${BODY_BYTES})
    from generate_series(1, ${attempts}::int) as number`;
}

test("a page of webhook deliveries shows the newest deliveries first, with their payloads and attempts", async () => {
  const { workspaceId, webhookId, ids } = await createHistory([
    { type: "post.failed", status: "succeeded" },
    { type: "post.published", status: "failed", attempts: 2 },
  ]);

  const { deliveries, nextCursor } = await webhooks.rpc.listWebhookDeliveries({
    workspaceId,
    webhookId,
  });

  expect(deliveries.map(({ id }) => id)).toEqual(ids);
  expect(nextCursor).toBeUndefined();
  expect(deliveries[0]).toMatchObject({
    eventType: "post.published",
    status: "failed",
    attemptCount: 2,
    payload: '{"text":""}',
    attempts: [
      { number: 1, durationMs: 12, statusCode: 500, error: "http_error" },
      { number: 2, requestHeaders: { "webhook-id": "a" }, responseHeaders: { server: "b" } },
    ],
  });
});

test.each([
  [{ status: "pending" }, [4]],
  [{ status: "delivering" }, [3]],
  [{ status: "failed" }, [5, 1]],
  [{ status: "failed", eventType: "post.failed" }, [1]],
  [{ eventType: "post.failed" }, [4, 1, 0]],
  [{ eventType: "account.connected" }, []],
])(
  "the filter %j of the webhook history returns the matching deliveries",
  async (filter, indexes) => {
    const history = [
      { type: "post.failed", status: "succeeded" },
      { type: "post.failed", status: "failed" },
      { type: "post.published", status: "cancelled" },
      { type: "post.published", status: "pending", isSending: true },
      { type: "post.failed", status: "pending" },
      { type: "post.published", status: "failed" },
    ];
    const { workspaceId, webhookId, ids } = await createHistory(history);

    const { deliveries } = await webhooks.rpc.listWebhookDeliveries({
      workspaceId,
      webhookId,
      ...filter,
    });

    const oldestFirst = ids.toReversed();
    expect(deliveries.map(({ id }) => oldestFirst.indexOf(id))).toEqual(indexes);
  },
);

/** Counts those that the query for the first page of the webhook history reads. */
async function countHistoryPages(
  webhookId: string,
  filter: Partial<Parameters<typeof storedDeliveries>[2]>,
) {
  const { sql } = webhooks;
  const range = { since: FIRST_ID, before: LAST_ID, limit: 21 };
  return await countPages(
    sql,
    storedDeliveries(sql, webhookId, { ...NO_FILTER, ...filter }, range),
  );
}

test("a page of a long webhook history reads few database pages, also with a filter that no delivery matches", async () => {
  const { workspaceId, webhookId } = await createHistory([]);
  await webhooks.sql`
    insert into webhook_deliveries (id, subscription_id, workspace_id, event_id, event_type, status)
    select (
        lpad(to_hex((extract(epoch from current_date::timestamp) * 1000)::bigint + number), 12, '0')
        || '7000' || '8' || substr(md5(number::text), 1, 15)
      )::uuid,
      ${webhookId}, ${workspaceId}, gen_random_uuid(),
      case when number % 2 = 0 then 'post.published' else 'post.failed' end,
      case when number % 10000 = 1 then 'pending' when number % 100 = 1 then 'failed' else 'succeeded' end
    from generate_series(1, 40000) as number`;
  await webhooks.database.ownerSql`analyze delivery.webhook_deliveries`;

  for (const filter of [
    {},
    { status: "cancelled" },
    { status: "failed" },
    { eventType: "account.connected" },
    { status: "failed", eventType: "post.published" },
  ] as const)
    expect([filter, (await countHistoryPages(webhookId, filter)) < 300]).toEqual([filter, true]);
});

test("pages of the webhook history return every delivery once, and end early at about 512 KiB", async () => {
  const large = { type: "post.failed", status: "succeeded", payloadBytes: 75_000, attempts: 2 };
  const { workspaceId, webhookId, ids } = await createHistory(
    Array.from({ length: 15 }, () => large),
  );

  const seen: string[] = [];
  const sizes: number[] = [];
  let cursor: string | undefined = "";
  while (cursor !== undefined) {
    const page: { deliveries: { id: string }[]; nextCursor?: string | undefined } =
      await webhooks.rpc.listWebhookDeliveries({ workspaceId, webhookId, limit: 10, cursor });
    seen.push(...page.deliveries.map(({ id }) => id));
    sizes.push(page.deliveries.length);
    cursor = page.nextCursor;
  }

  expect(seen).toEqual(ids);
  expect(sizes).toEqual([4, 4, 4, 3]);
});

/**
 * Adds failed deliveries to a history, one for each given number of days before now, and returns
 * their ids, newest first.
 */
async function addFailedDays(
  at: { readonly workspaceId: string; readonly webhookId: string },
  days: readonly number[],
) {
  const ids = days.map((day, index) =>
    deriveTimedId(new Date(Date.now() - day * DAY_MS), `${at.webhookId} ${index} ${newId()}`),
  );
  for (const id of ids)
    await insertDelivery({ ...at, id }, { type: "post.failed", status: "failed" });
  return ids.toSorted().toReversed();
}

type Walked = { readonly workspaceId: string; readonly webhookId: string };

/** Reads all pages of a history and returns the ids of their deliveries. */
async function walkPages(history: Walked, limit: number, afterPage = () => Promise.resolve()) {
  const seen: string[] = [];
  let cursor: string | undefined = "";
  while (cursor !== undefined) {
    const page: { deliveries: { id: string }[]; nextCursor?: string | undefined } =
      await webhooks.rpc.listWebhookDeliveries({ ...history, limit, cursor });
    seen.push(...page.deliveries.map(({ id }) => id));
    cursor = page.nextCursor;
    await afterPage();
  }
  return seen;
}

test("the pages of a webhook history of many days return every delivery once, also across days without one", async () => {
  const { workspaceId, webhookId } = await createHistory([]);
  const ids = await addFailedDays({ workspaceId, webhookId }, [1, 1, 1, 3, 3, 7]);

  expect(await walkPages({ workspaceId, webhookId }, 2)).toEqual(ids);
});

test("webhook deliveries that are added while a client reads pages neither repeat nor hide older ones", async () => {
  const { workspaceId, webhookId } = await createHistory([]);
  const history = { workspaceId, webhookId };
  const ids = await addFailedDays(history, [0.5, 1, 2, 4, 7]);

  const seen = await walkPages(history, 2, async () => {
    await addFailedDays(history, [0.1]);
  });

  expect(seen).toEqual(ids);
});

test("pages of the webhook history can be read while partitions of old days are dropped", async () => {
  const { sql } = webhooks;
  const oldDays = Array.from({ length: 12 }, (_each, index) => 10 + index);
  await sql`
    select create_day_partitions(name, current_date - 22, current_date)
    from unnest(array['webhook_events', 'webhook_deliveries', 'webhook_attempts']) as name`;
  const { workspaceId, webhookId } = await createHistory([]);
  const history = { workspaceId, webhookId };
  const kept = await addFailedDays(history, [1, 2, 5, 8]);
  const dropped = await addFailedDays(history, oldDays);
  const dropping = new AbortController();
  const drop = async () => {
    for (const day of oldDays.toReversed()) await dropOldPartitions({ sql, historyDays: day - 1 });
    dropping.abort();
  };
  const walks: string[][] = [];
  const read = async () => {
    while (!dropping.signal.aborted) walks.push(await walkPages(history, 3));
  };

  await Promise.all([drop(), read(), read()]);

  for (const walk of walks) {
    expect(walk.slice(0, kept.length)).toEqual(kept);
    expect(dropped.slice(0, walk.length - kept.length)).toEqual(walk.slice(kept.length));
  }
  expect(await walkPages(history, 3)).toEqual(kept);
});

/**
 * Returns how many partitions of each table of the webhook history the transaction has locked, to
 * read them or to plan a read.
 */
async function countPartitions(tx: TransactionSql) {
  const rows = await tx<{ table: string; count: number }[]>`
    select split_part(relname, '_', 2) as table, count(distinct relname)::int as count
    from pg_locks
    join pg_class on pg_class.oid = pg_locks.relation
    where pg_locks.pid = pg_backend_pid()
    and relkind = 'r'
    and relname ~ '^webhook_.*_[0-9]{8}$'
    group by 1`;
  return Object.fromEntries(rows.map(({ table, count }) => [table, count]));
}

test.each([
  ["no filter", {}, { deliveries: 4, details: 2 }],
  ["a filter that matches two days", { status: "failed" }, { deliveries: 12, details: 2 }],
  ["a filter that matches nothing", { status: "cancelled" }, { deliveries: 12, details: 0 }],
] as const)(
  "a page of the webhook history with %s reads payloads and attempts only of the days that it shows, however often it was read before",
  async (_name, filter, expected) => {
    const { workspaceId, webhookId } = await createHistory(
      Array.from({ length: 25 }, () => ({ type: "post.published", status: "succeeded" })),
    );
    await addFailedDays({ workspaceId, webhookId }, [1, 6]);

    const counts = await webhooks.sql.begin(async (tx) => {
      // From the sixth execution on, Postgres may choose a plan that fits any ids, and such a plan
      // reads all days.
      for (let count = 0; count < 8; count += 1)
        await listDeliveries(tx, webhookId, { ...FIRST_PAGE, ...filter });
      return await countPartitions(tx);
    });

    const { deliveries, events = 0, attempts = 0 } = counts;
    expect(deliveries).toBeLessThanOrEqual(expected.deliveries);
    expect(events).toBeLessThanOrEqual(expected.details);
    expect(attempts).toBeLessThanOrEqual(expected.details);
  },
);

test("a cursor of the webhook history is refused for another subscription and for another filter", async () => {
  const two = [
    { type: "post.failed", status: "failed" },
    { type: "post.failed", status: "failed" },
  ];
  const { workspaceId, webhookId } = await createHistory(two);
  const other = await createHistory(two);
  const { nextCursor: cursor = "" } = await webhooks.rpc.listWebhookDeliveries({
    workspaceId,
    webhookId,
    limit: 1,
  });

  for (const request of [
    { workspaceId, webhookId, cursor, status: "failed" },
    { workspaceId: other.workspaceId, webhookId: other.webhookId, cursor },
  ])
    await expect(webhooks.rpc.listWebhookDeliveries(request)).rejects.toMatchObject({
      reason: "invalid_cursor",
    });
});

test("a failed webhook delivery that a user retries is due now and continues to count its attempts", async () => {
  const { workspaceId, webhookId, ids } = await createHistory([
    { type: "post.failed", status: "failed", attempts: 11 },
  ]);
  const [deliveryId = ""] = ids;

  const { delivery } = await webhooks.rpc.retryWebhookDelivery({
    workspaceId,
    webhookId,
    deliveryId,
  });

  expect(delivery).toMatchObject({ id: deliveryId, status: "pending", attemptCount: 11 });
  const [queued] = await webhooks.sql`
    select attempt_count, due_at <= now() as is_due, is_manual, wake_at <= now() as is_awake
    from webhook_queue
    join webhook_leases using (subscription_id)
    where delivery_id = ${deliveryId}`;
  expect(queued).toEqual({ attemptCount: 11, isDue: true, isManual: true, isAwake: true });
});

test.each(["succeeded", "pending", "cancelled"])(
  "a webhook delivery that is %s cannot be retried",
  async (status) => {
    const { workspaceId, webhookId, ids } = await createHistory([{ type: "post.failed", status }]);
    const [deliveryId = ""] = ids;

    await expect(
      webhooks.rpc.retryWebhookDelivery({ workspaceId, webhookId, deliveryId }),
    ).rejects.toMatchObject({
      reason: "delivery_not_failed",
      violations: [{ code: "wrong_status", status, allowed: ["failed"] }],
    });
  },
);

test("a delivery of a paused webhook subscription cannot be retried", async () => {
  const { workspaceId, webhookId, ids } = await createHistory([
    { type: "post.failed", status: "failed" },
  ]);
  await webhooks.rpc.updateWebhook({ workspaceId, id: webhookId, status: "paused" });

  await expect(
    webhooks.rpc.retryWebhookDelivery({ workspaceId, webhookId, deliveryId: ids[0] ?? "" }),
  ).rejects.toMatchObject({ reason: "invalid_transition" });
});

test("of ten simultaneous retries of one webhook delivery, one queues an attempt and nine are refused", async () => {
  const { workspaceId, webhookId, ids } = await createHistory([
    { type: "post.failed", status: "failed" },
  ]);
  const [deliveryId = ""] = ids;

  const results = await Promise.allSettled(
    Array.from({ length: 10 }, () =>
      webhooks.rpc.retryWebhookDelivery({ workspaceId, webhookId, deliveryId }),
    ),
  );

  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a webhook delivery cannot be retried through another subscription of the same workspace", async () => {
  const { workspaceId, ids } = await createHistory([{ type: "post.failed", status: "failed" }]);
  const { webhook } = await webhooks.rpc.createWebhook({ ...newWebhook(), workspaceId });

  await expect(
    webhooks.rpc.retryWebhookDelivery({
      workspaceId,
      webhookId: webhook?.id ?? newId(),
      deliveryId: ids[0] ?? "",
    }),
  ).rejects.toMatchObject({ reason: "not_found" });
});

test("a delivery that a user retried often shows its newest 50 attempts, so that its page never grows", async () => {
  const { workspaceId, webhookId } = await createHistory([
    { type: "post.failed", status: "failed", attempts: 1_200 },
  ]);

  const { deliveries } = await webhooks.rpc.listWebhookDeliveries({ workspaceId, webhookId });

  expect(deliveries[0]?.attemptCount).toBe(1_200);
  expect(deliveries[0]?.attempts.map(({ number }) => number)).toEqual(
    Array.from({ length: 50 }, (_each, index) => 1_151 + index),
  );
});

test("while thousands of webhook deliveries wait, the history shows that a delivery which a user retried is being sent", async () => {
  const { sql } = webhooks;
  const { workspaceId, webhookId, ids } = await createHistory([
    { type: "post.failed", status: "pending", isSending: true },
  ]);
  await sql`update webhook_queue set is_manual = true where delivery_id = ${ids[0] ?? ""}`;
  await sql`
    insert into webhook_queue (delivery_id, subscription_id, event_id, due_at)
    select gen_random_uuid(), ${webhookId}, gen_random_uuid(), now() - interval '1 day'
    from generate_series(1, 2000)`;

  const { deliveries } = await webhooks.rpc.listWebhookDeliveries({
    workspaceId,
    webhookId,
    status: "delivering",
  });

  expect(deliveries.map(({ id }) => id)).toEqual(ids);
});

test.each([
  [
    "cancelling the deliveries of a revoked subscription",
    (tx: TransactionSql, id: string) =>
      lockWaiting(tx, id, { after: "00000000-0000-0000-0000-000000000000", limit: 10 }),
  ],
  [
    "listing the deliveries that are being sent",
    (tx: TransactionSql, id: string) => listDeliveries(tx, id, SENDING_PAGE),
  ],
])("%s reads only the queued webhook deliveries of the subscription", async (_name, read) => {
  const { sql, database } = webhooks;
  await sql`
    insert into webhook_queue (delivery_id, subscription_id, event_id)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid()
    from generate_series(1, 20_000)`;
  await database.ownerSql`analyze delivery.webhook_queue`;
  const rowsRead = await sql.begin(async (tx) => {
    await read(tx, newId());
    const [row] = await tx<{ count: number }[]>`
      select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as count
      from pg_stat_xact_user_tables
      where relid = 'webhook_queue'::regclass`;
    return row?.count;
  });
  expect(rowsRead).toBeLessThan(10);
});

test("a page of the webhook history reads the response bodies only of the deliveries that it shows", async () => {
  const { sql } = webhooks;
  const { webhookId, ids } = await createHistory(
    Array.from({ length: 40 }, () => ({ type: "post.failed", status: "failed", attempts: 11 })),
  );
  // Bodies that Postgres cannot compress are stored outside of their rows, so reading them can be
  // counted.
  await sql`
    update webhook_attempts
    set response_body = left((
      select string_agg(md5(part::text), '') from generate_series(1, 512) as part
    ), ${BODY_BYTES})
    where delivery_id = any(${[...ids]}::uuid[])`;
  const countBodyRows = async (tx: TransactionSql) => {
    const [row] = await tx<{ count: number }[]>`
      select sum(idx_tup_fetch)::int as count
      from pg_stat_xact_all_tables
      where relname like 'pg_toast%'`;
    return row?.count ?? 0;
  };
  const readPage = (limit: number) =>
    sql.begin(async (tx) => {
      const before = await countBodyRows(tx);
      const shown = (await listDeliveries(tx, webhookId, { ...FIRST_PAGE, limit })).deliveries
        .length;
      return { shown, bodyRows: (await countBodyRows(tx)) - before };
    });

  const cut = await readPage(100);
  const exact = await readPage(cut.shown);

  expect(cut.shown).toBe(5);
  expect(exact).toMatchObject({ shown: 5 });
  expect(exact.bodyRows).toBeGreaterThan(100);
  expect(cut.bodyRows).toBeLessThan(1.5 * exact.bodyRows);
});
