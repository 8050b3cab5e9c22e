import { eventually } from "@postrider/shared/testing/poll";
import type postgres from "postgres";

/**
 * Database tables that every answered request changes, or that a job adds up later. They are left
 * out of the hashes with which tests detect changes of the database.
 */
const MOVING_TABLES = new Set([
  "accounts.connect_budgets",
  "accounts.request_budgets",
  "delivery.webhook_usage",
  "delivery.webhook_usage_changes",
]);

/**
 * Database columns that change without a request and hold no data of a workspace. They are left out
 * of the hashes with which tests detect changes of the database.
 */
const MOVING_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  // The column `last_used_at`: the accounts service updates it at most once a minute for an API key
  // that is in use.
  "accounts.api_keys": ["last_used_at"],
  // The same of the session of a browser.
  "accounts.dashboard_sessions": ["last_seen_at"],
  // The column `seen_at`: the delivery service updates it while it runs.
  "delivery.deployment": ["seen_at"],
};

/** Returns a hash of all rows of each table in every schema. */
export async function digestDatabase(sql: postgres.Sql): Promise<ReadonlyMap<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select schemaname || '.' || tablename as name
    from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')
    order by 1`;
  const watched = tables.filter(({ name }) => !MOVING_TABLES.has(name));
  const queries = watched.map(({ name }) => {
    const moving = (MOVING_COLUMNS[name] ?? []).map((column) => `'${column}'`);
    const row = moving.length === 0 ? "t" : ["to_jsonb(t)", ...moving].join(" - ");
    // A sum needs no order of the rows. To sort them, and to make JSON of each, takes much longer.
    return `select '${name}' as name, count(*) || ' ' || coalesce(sum(hashtextextended((${row})::text, 0)), 0) as hash from ${name} t`;
  });
  // A tagged statement is prepared: Postgres takes longer to plan this one than to execute it.
  const rows = await sql<
    { name: string; hash: string }[]
  >`${sql.unsafe(queries.join(" union all "))}`;
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

/**
 * How often, one after the other, the hash of all rows has to be unchanged. The services poll
 * several times in this time.
 */
const EQUAL_HASHES = 12;

/** Waits until the database no longer changes. */
export async function whenStill(sql: postgres.Sql): Promise<void> {
  let last = "";
  let same = 0;
  await eventually(async () => {
    const now = JSON.stringify([...(await digestDatabase(sql))]);
    same = now === last ? same + 1 : 0;
    last = now;
    return same >= EQUAL_HASHES;
  });
}
