import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { lockWaiting } from "#src/webhooks/db/cancellations.ts";
import { startCancelDeliveries } from "#src/webhooks/jobs/cancel-deliveries.ts";
import { countByStatus, insertSubscription, openWebhookDatabase } from "./fixture.ts";

const START = "00000000-0000-0000-0000-000000000000";
const logger = createLogger({ service: "delivery", level: "silent" });

const database = await openWebhookDatabase();
afterAll(() => database[Symbol.asyncDispose]());

async function revokedWith(sql: Sql, count: number): Promise<string> {
  const { id, workspaceId } = await insertSubscription(sql, {
    url: "https://example.com/",
    status: "revoked",
  });
  await sql`
    with delivery as (
      insert into webhook_deliveries (id, subscription_id, workspace_id, event_id, event_type)
      select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7000'
        || right(${id}, 4) || lpad(to_hex(number), 12, '0'))::uuid, ${id}, ${workspaceId}, gen_random_uuid(), 'post.published'
      from generate_series(1, ${count}::int) as number
      returning id, event_id
    )
    insert into webhook_queue (delivery_id, subscription_id, event_id)
    select id, ${id}, event_id
    from delivery`;
  await database.ownerSql`analyze delivery.webhook_queue, delivery.webhook_deliveries`;
  return id;
}

async function readRows(tx: TransactionSql): Promise<number> {
  const [row] = await tx<{ rows: number }[]>`
    select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows
    from pg_stat_xact_user_tables
    where relname like 'webhook_deliveries%' or relname = 'webhook_queue'`;
  return row?.rows ?? 0;
}

test("a page of deliveries that are cancelled reads at most 5,000 rows, whether 2,000 or 20,000 deliveries wait", async () => {
  const { sql } = database;
  const read = async (count: number) => {
    const id = await revokedWith(sql, count);
    return await sql.begin(async (tx) => {
      const before = await readRows(tx);
      const { ids } = await lockWaiting(tx, id, { after: START, limit: 500 });
      expect(ids).toHaveLength(500);
      return (await readRows(tx)) - before;
    });
  };
  expect(await read(2_000)).toBeLessThan(5_000);
  expect(await read(20_000)).toBeLessThan(5_000);
});

test("all waiting deliveries of a revoked webhook subscription are cancelled page by page, one that is being sent after its attempt", async () => {
  const { sql } = database;
  const id = await revokedWith(sql, 1_750);
  await sql`
    update webhook_queue set sending_until = now() + interval '1 hour'
    where delivery_id = (select min(delivery_id::text)::uuid from webhook_queue where subscription_id = ${id})`;
  await using _job = startCancelDeliveries({ sql, logger });
  await eventually(async () =>
    expect(await countByStatus(sql, id)).toEqual({ cancelled: 1_749, pending: 1 }),
  );
  await sql`update webhook_queue set sending_until = now() where subscription_id = ${id}`;
  await eventually(async () => expect(await countByStatus(sql, id)).toEqual({ cancelled: 1_750 }));
  expect(await sql`select 1 from webhook_queue where subscription_id = ${id}`).toHaveLength(0);
});

test("a revoked webhook subscription whose deliveries cannot be cancelled does not keep those of others from being cancelled", async () => {
  const { sql, ownerSql } = database;
  const refused = await revokedWith(sql, 1);
  const others = await Promise.all([revokedWith(sql, 501), revokedWith(sql, 501)]);
  await ownerSql.unsafe(`
    create function delivery.refuse_change() returns trigger language plpgsql as
      $$ begin raise exception 'refused'; end $$;
    create trigger refuse_change before update on delivery.webhook_deliveries for each row
      when (old.subscription_id = '${refused}') execute function delivery.refuse_change()`);
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  await using _job = startCancelDeliveries({
    sql,
    logger: createLogger({ service: "delivery", level: "error", destination }),
  });
  await eventually(async () => {
    for (const id of others) expect(await countByStatus(sql, id)).toEqual({ cancelled: 501 });
    expect(lines.join("")).toContain(refused);
  });
  expect(await countByStatus(sql, refused)).toEqual({ pending: 1 });
});
