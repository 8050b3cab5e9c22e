import { setTimeout as sleep } from "node:timers/promises";
import type postgres from "postgres";
import type { BenchSystem } from "./system.ts";

const PER_POST = 100;
const WAIT_MS = 100;

/**
 * Makes published targets whose metrics are due: publishes one post on new accounts of each platform, and copies the rows of
 * its targets in the databases of posts and delivery. All copies refer to the same posts on the platforms. Returns the
 * number of targets by platform.
 */
export async function insertDueTargets(
  system: BenchSystem,
  sql: postgres.Sql,
  options: {
    readonly platforms: readonly string[];
    readonly accountsPerPlatform: number;
    readonly targets: number;
  },
): Promise<ReadonlyMap<string, number>> {
  const { platforms, accountsPerPlatform, targets } = options;
  const accountIds: string[] = [];
  for (const platform of platforms)
    accountIds.push(...(await system.connect(platform, accountsPerPlatform)));
  for (let from = 0; from < accountIds.length; from += PER_POST) {
    const some = accountIds.slice(from, from + PER_POST);
    await system.call("POST", "/posts", { content: "a post with metrics", accountIds: some });
  }
  while ((await countRows(sql, accountIds)) < accountIds.length) await sleep(WAIT_MS);
  await copyRows(sql, accountIds, Math.ceil(targets / accountIds.length));
  const rows = await sql<{ platform: string; count: number }[]>`
    select platform, count(*)::int as count
    from delivery.target_metrics
    where due_at <= now()
    group by platform`;
  return new Map(rows.map(({ platform, count }) => [platform, count]));
}

/** Counts the accounts that have a published target in the schedule of metrics refreshes. */
async function countRows(sql: postgres.Sql, accountIds: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(distinct account_id)::int as count
    from delivery.target_metrics
    where account_id = any(${[...accountIds]}::uuid[])
    and external_id is not null`;
  return row?.count ?? 0;
}

/** Copies each target `copies` times. Each copy is the only target of a new post. */
async function copyRows(
  sql: postgres.Sql,
  accountIds: readonly string[],
  copies: number,
): Promise<void> {
  await sql`
    create temporary table copied as
    select t.target_id as original, gen_random_uuid() as target_id, gen_random_uuid() as post_id
    from delivery.target_metrics t, generate_series(1, ${copies})
    where t.account_id = any(${[...accountIds]}::uuid[])`;
  await copyTable(
    sql,
    "posts.posts",
    "join posts.targets t on t.post_id = o.id join copied c on c.original = t.id",
    {
      id: "c.post_id",
    },
  );
  await copyTable(sql, "posts.targets", "join copied c on c.original = o.id", {
    id: "c.target_id",
    post_id: "c.post_id",
    ordinal: "0",
  });
  await copyTable(sql, "delivery.target_metrics", "join copied c on c.original = o.target_id", {
    target_id: "c.target_id",
    post_id: "c.post_id",
    due_at: "now()",
    published_at: "now() - interval '1 hour'",
  });
  await sql`
    update delivery.metrics_accounts
    set due_at = now()
    where account_id = any(${[...accountIds]}::uuid[])`;
  // Vacuums the tables now. Otherwise autovacuum would process the copied rows while the benchmark measures publishing.
  await sql`vacuum analyze posts.posts, posts.targets, delivery.target_metrics, delivery.metrics_accounts`;
}

/** Inserts copies of a table's rows, with other values in some columns. */
async function copyTable(
  sql: postgres.Sql,
  table: string,
  join: string,
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  const columns = await sql<{ name: string }[]>`
    select attname as name
    from pg_attribute
    where attrelid = ${table}::regclass
    and attnum > 0
    and not attisdropped
    and attgenerated = ''`;
  const names = columns.map(({ name }) => name);
  const values = names.map((name) => changes[name] ?? `o.${name}`);
  await sql.unsafe(
    `insert into ${table} (${names.join(", ")}) select ${values.join(", ")} from ${table} o ${join}`,
  );
}
