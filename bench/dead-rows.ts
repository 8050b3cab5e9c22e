/**
 * Measures how long the queries take with which the outbox relay, the scheduler and delivery look for work, while a
 * long snapshot, for example of a backup, keeps 300,000 old rows of each of these groups in the database: deleted
 * events, posts whose publishing has started, published targets, deleted targets, and answered requests for the post
 * ids of published targets. Each query is measured once from the beginning of its index, and, if it has a floor (the
 * smallest key that waiting work can have), once from there. Prints a Markdown table.
 */
import { randomUUID } from "node:crypto";
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
import { MIGRATIONS as DELIVERY_MIGRATIONS } from "../services/delivery/src/config.ts";
import { claimTasks } from "../services/delivery/src/publishing/db/claims.ts";
import { findNextDeletion } from "../services/delivery/src/publishing/db/deletion-claims.ts";
import { insertDeployment } from "../services/delivery/src/publishing/db/deployment.ts";
import { findNextQuestion } from "../services/delivery/src/publishing/db/detail-questions.ts";
import { listLostCalls } from "../services/delivery/src/publishing/db/leases.ts";
import { findNextTask } from "../services/delivery/src/publishing/db/next-task.ts";
import type { TaskFloors } from "../services/delivery/src/publishing/db/task-floors.ts";
import { MIGRATIONS } from "../services/posts/src/config.ts";
import { nextDue } from "../services/posts/src/db/due-posts.ts";
import { percentile } from "./measure.ts";

/**
 * Number of old rows in each group (events, posts, targets, answered requests for post ids); the command's first
 * argument.
 */
const ROWS = Number(process.argv[2] ?? 300_000);
const BATCH_ROWS = 500;
const ACCOUNTS = 500;
const POSTS_BATCH_ROWS = 5_000;
/**
 * How long ago the targets were published and deleted. The queries for work read an index from one minute before the
 * place that the last query reached, so this is longer than a minute.
 */
const AGE = "2 minutes";
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

const deliveryRole = { service: "delivery", password: "bench", migrationPassword: "bench" };
await provisionDatabase(cluster.url, [deliveryRole]);
const delivery = open(serviceDatabaseUrl(cluster.url, deliveryRole));
await migrateDatabase(migrationDatabaseUrl(cluster.url, deliveryRole), DELIVERY_MIGRATIONS);
await insertDeployment(delivery, "bench");

const PLATFORMS = ["x"];
const CLAIM = {
  owner: randomUUID(),
  leaseMs: 60_000,
  limit: 50,
  platforms: PLATFORMS,
  suspectAfter: 3,
  maxSuspects: 1,
  mayTakeOver: true,
  maxPerPlatform: 64,
  maxPerWorkspace: 32,
};

async function claim(floors: TaskFloors | null): Promise<void> {
  await delivery.begin((tx) => claimTasks(tx, { ...CLAIM, floors }));
}

/**
 * Takes ROWS targets through the states of delivery: queued, in work, calling, published. The queues of their 500 accounts
 * change as often as if each account had one target at a time.
 */
async function publishTargets(): Promise<void> {
  await delivery.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`set local transaction_timeout = 0`;
    await tx`
      insert into publish_tasks (target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
        publish_before)
      select gen_random_uuid(), 1, '00000000-0000-4000-8000-000000000000', gen_random_uuid(),
        md5((n % ${ACCOUNTS}::int)::text)::uuid, 'x', 'queued', now(), now(), now() + interval '1 day'
      from generate_series(1, ${ROWS}::int) as n`;
    await tx`update publish_tasks set status = 'working', wake_at = clock_timestamp() - ${AGE}::interval`;
    await tx`update publish_tasks set status = 'published', wake_at = now()`;
  });
  for (let round = 0; round < ROWS / ACCOUNTS; round += 1)
    await delivery`update account_queues set publish_at = clock_timestamp() - ${AGE}::interval, look_at = null`;
  await delivery`update account_queues set publish_at = null`;
}

/** Records ROWS targets as deleted, and ROWS requests for the post id of a published target as answered by the platform. */
async function deleteTargets(): Promise<void> {
  await delivery.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`set local transaction_timeout = 0`;
    await tx`
      insert into deletion_tasks (target_id, deletion, workspace_id, post_id, account_id, platform, external_id, status, wake_at)
      select gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'x', '1', 'working', now() - ${AGE}::interval
      from generate_series(1, ${ROWS}::int)`;
    await tx`update deletion_tasks set status = 'deleted'`;
    await tx`
      insert into detail_questions (target_id, generation, workspace_id, account_id, platform, handles, wake_at)
      select gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), 'x', '{}', now() - ${AGE}::interval
      from generate_series(1, ${ROWS}::int)`;
    await tx`delete from detail_questions`;
  });
}

await backup.begin("isolation level repeatable read", async (snapshot) => {
  await snapshot`select 1`;
  await passEvents();
  await startPosts();
  await publishTargets();
  await deleteTargets();
  const outbox = new OutboxFloor();
  await outbox.advance(sql);
  await outbox.advance(sql);
  const [due] = await nextDue(sql, null);
  const { floors } = await findNextTask(delivery, PLATFORMS, null);
  const { floor: deletions } = await findNextDeletion(delivery, null);
  const { floor: questions } = await findNextQuestion(delivery, null);
  const rows = [
    await compare(
      "delivery: next task",
      (from) => findNextTask(delivery, PLATFORMS, from),
      null,
      floors,
    ),
    await compare("delivery: claim", (from) => claim(from), null, floors),
    await compare(
      "delivery: lost calls",
      (from) => listLostCalls(delivery, 100, from),
      null,
      floors,
    ),
    await compare(
      "delivery: next deletion",
      (from) => findNextDeletion(delivery, from),
      null,
      deletions,
    ),
    await compare(
      "delivery: next question",
      (from) => findNextQuestion(delivery, from),
      null,
      questions,
    ),
    await compare("outbox: next events", (from) => nextRows(sql, from), 0, outbox.id),
    await compare("outbox: backlog", (from) => readOutboxBacklog(sql, from), 0, outbox.id),
    await compare("scheduler: next due post", (from) => nextDue(sql, from), null, due.floor),
  ];
  process.stdout.write(
    `\n| poll, 5 or 2 a second per process | from the beginning, p50 ms | from the floor |\n|---|---|---|\n${rows.join("\n")}\n`,
  );
});
await Promise.all([sql.end(), delivery.end(), backup.end()]);
