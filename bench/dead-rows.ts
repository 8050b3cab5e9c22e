/**
 * Measures how long the polls of the outbox and of the scheduler take while a long snapshot, for example of a backup, keeps
 * 300,000 old rows in the database: deleted events, and posts whose publishing has started. Each poll is measured once from the
 * beginning of its index, and once from its floor, the smallest key that waiting work can have. Prints a Markdown table.
 */
import { join } from "node:path";
import { startEmbeddedPostgres } from "@postrider/local/embedded-postgres";
import { makeTestFolder } from "@postrider/local/test-folder";
import { readOutboxBacklog } from "@postrider/shared/outbox";
import { OutboxFloor } from "@postrider/shared/outbox/floor";
import { nextRows } from "@postrider/shared/outbox/pass";
import { openSql, type Sql } from "@postrider/shared/postgres";
import { migrateDatabase } from "@postrider/shared/postgres/migrate-command";
import { provisionDatabase } from "@postrider/shared/postgres/provision";
import { migrationDatabaseUrl, serviceDatabaseUrl } from "@postrider/shared/postgres/service-role";
import { MIGRATIONS } from "../services/posts/src/config.ts";
import { nextDue } from "../services/posts/src/db/due-posts.ts";
import { percentile } from "./measure.ts";

const ROWS = 300_000;
const BATCH_ROWS = 500;
const POSTS_BATCH_ROWS = 5_000;
const WARM_UPS = 3;
const SAMPLES = 50;

const role = { service: "posts", password: "bench", migrationPassword: "bench" };
await using cluster = await startEmbeddedPostgres({
  dataDir: join(makeTestFolder("bench"), "data"),
});
await provisionDatabase(cluster.url, [role]);
await migrateDatabase(migrationDatabaseUrl(cluster.url, role), MIGRATIONS);
const sql = open(serviceDatabaseUrl(cluster.url, role));
const backup = open(cluster.url);

function open(url: string): Sql {
  return openSql({ url, poolSize: 2, applicationName: "bench" });
}

/** Appends events to the outbox and deletes them batch by batch, as API requests and the outbox relay do. */
async function passEvents(): Promise<void> {
  for (let passed = 0; passed < ROWS; passed += BATCH_ROWS) {
    await sql`
      insert into outbox (event_id, type, key, payload, headers)
      select gen_random_uuid(), 'postrider.posts.v1.PostPublished', 'key', repeat('x', 300), '{}'
      from generate_series(1, ${BATCH_ROWS}::int)`;
    await sql`delete from outbox`;
  }
}

/** Inserts scheduled posts of the last 24 hours and starts their publishing batch by batch, as the scheduler does. */
async function startPosts(): Promise<void> {
  for (let started = 0; started < ROWS; started += POSTS_BATCH_ROWS) {
    await sql`
      insert into posts (id, workspace_id, status, content, options, media_ids, media, scheduled_at, created_via,
        created_at, updated_at)
      select gen_random_uuid(), '00000000-0000-4000-8000-000000000000', 'scheduled', 'A post of ordinary length', '{}',
        '{}', '[]', now() - interval '1 day' + (${started}::int + n) * interval '250 milliseconds', 'rest', now(), now()
      from generate_series(1, ${POSTS_BATCH_ROWS}::int) as n`;
    await sql`
      update posts
      set status = 'publishing'
      where status = 'scheduled'
      and scheduled_at > now() - interval '1 day 1 minute' + ${started}::int * interval '250 milliseconds'`;
  }
}

async function medianMs(poll: () => PromiseLike<unknown>): Promise<string> {
  const samples: number[] = [];
  for (let index = 0; index < WARM_UPS + SAMPLES; index += 1) {
    const startedAt = performance.now();
    await poll();
    if (index >= WARM_UPS) samples.push(performance.now() - startedAt);
  }
  return percentile(samples, 0.5).toFixed(1);
}

type Poll<T> = (from: T) => PromiseLike<unknown>;

async function compare<T>(name: string, poll: Poll<T>, start: T, floor: T): Promise<string> {
  return `| ${name} | ${await medianMs(() => poll(start))} | ${await medianMs(() => poll(floor))} |`;
}

await backup.begin("isolation level repeatable read", async (snapshot) => {
  await snapshot`select 1`;
  await passEvents();
  await startPosts();
  const outbox = new OutboxFloor();
  await outbox.advance(sql);
  await outbox.advance(sql);
  const [due] = await nextDue(sql, null);
  const rows = [
    await compare("outbox: next events", (from) => nextRows(sql, from), 0, outbox.id),
    await compare("outbox: backlog", (from) => readOutboxBacklog(sql, from), 0, outbox.id),
    await compare("scheduler: next due post", (from) => nextDue(sql, from), null, due.floor),
  ];
  process.stdout.write(
    `\n| poll, 5 or 2 a second per process | from the beginning, p50 ms | from the floor |\n|---|---|---|\n${rows.join("\n")}\n`,
  );
});
await Promise.all([sql.end(), backup.end()]);
