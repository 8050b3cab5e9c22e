import { eventually } from "@postrider/shared/testing/poll";
import { beforeAll, expect, test } from "vitest";
import { whenPost } from "../support/requests/posts.ts";
import { openTenant, type Tenant } from "../support/requests/tenant.ts";
import { whenStill } from "../support/system/database-digest.ts";
import { printFigures } from "../support/system/figures.ts";
import type { System } from "../support/system/system.ts";

/** Posts that are measured, one after the other, so that no two share a statement. */
const POSTS = 20;
/** Counts may grow by a tenth from one release to the next. */
const TOLERANCE = 1.1;

/**
 * Rows that a post on the given number of Bluesky accounts, published at once, wrote in the last
 * release. A change that lowers them lowers these figures, too.
 */
const LAST_RELEASE = [
  { accounts: 1, rows: 38.3 },
  { accounts: 7, rows: 158.4 },
];

/** Rows that were written in all tables since Postgres started, as far as they are reported. */
async function readRows({ sql }: System): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`
    select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as rows
    from pg_stat_user_tables`;
  return row?.rows ?? 0;
}

/**
 * Rows that were written until the database no longer changes. A connection of Postgres reports
 * what it wrote up to 10 s after its last statement, or when it ends; the services open another.
 */
async function whenReported(system: System): Promise<number> {
  const { sql } = system;
  await whenStill(sql);
  const ended = await sql<{ pid: number }[]>`
    select pid, pg_terminate_backend(pid)
    from pg_stat_activity
    where usename like 'postrider_%'`;
  const pids = ended.map(({ pid }) => pid);
  await eventually(async () => {
    const left = await sql`select from pg_stat_activity where pid in ${sql(pids)}`;
    return left.length === 0;
  });
  return await readRows(system);
}

/** Tests that publishing a post does not cost more than it did in the last release. */
export function testCost(given: () => System): void {
  let tenant: Tenant;
  let accountIds: readonly string[];
  let before: number;
  // The second measurement begins where the first one ends.
  beforeAll(async () => {
    tenant = await openTenant(given());
    accountIds = await tenant.connectAll("bluesky", 7);
    before = await whenReported(given());
  });

  test.each(LAST_RELEASE)(
    "publishing a text on $accounts accounts writes at most a tenth more rows than in the last release",
    async ({ accounts, rows }) => {
      for (let number = 0; number < POSTS; number += 1) {
        const content = `post ${number} on ${accounts} accounts`;
        const { id } = await tenant.api.createPost(content, accountIds.slice(0, accounts));
        await whenPost(tenant.api, id, "published");
      }

      const after = await whenReported(given());
      const written = (after - before) / POSTS;
      before = after;
      printFigures(`a text on ${accounts} accounts`, { rows: written });
      expect(written).toBeLessThan(rows * TOLERANCE);
    },
  );
}
