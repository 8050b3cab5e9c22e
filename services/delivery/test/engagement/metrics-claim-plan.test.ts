import { newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { afterAll, expect, test } from "vitest";
import { claimDueTargets } from "#src/engagement/db/metrics-claims.ts";
import { NO_WORKSPACE } from "#src/engagement/db/metrics-turns.ts";
import { toBucket } from "#src/engagement/domain/call-budget.ts";
import { MetricsStage } from "./metrics-fixture.ts";

const ACCOUNTS = 5_000;
const TARGETS = 100_000;

const stage = await MetricsStage.open();
await stage.sql`
  insert into metrics_accounts (account_id, workspace_id, platform, due_at)
  select gen_random_uuid(), gen_random_uuid(), 'x', now() - number * interval '1 second'
  from generate_series(1, ${ACCOUNTS}) as number`;
await stage.sql`
  insert into target_metrics (
    target_id, workspace_id, post_id, account_id, platform, external_id, published_at, due_at
  )
  select gen_random_uuid(), a.workspace_id, gen_random_uuid(), a.account_id, 'x', number::text,
    now() - interval '2 hours', now() - interval '1 minute'
  from metrics_accounts a, generate_series(1, ${TARGETS / ACCOUNTS}) as number`;
await stage.database.migrationSql`analyze metrics_accounts, target_metrics`;
afterAll(() => stage[Symbol.asyncDispose]());

const CLAIM = {
  platform: "x",
  after: NO_WORKSPACE,
  maxAccounts: 20,
  maxTargets: 5,
  bucket: toBucket({ budget: { scope: "account", calls: 4, windowMs: 1_000 }, maxPosts: 5 }),
  leaseMs: 60_000,
  wantedMs: 60_000,
  aheadMs: 600_000,
  endMs: 7 * 86_400_000,
};

test("a claim of targets with due metrics stops taking accounts once it has enough targets, and leaves the remaining accounts to the next claim", async () => {
  await stage.sql.begin(async (tx) => {
    const { accounts } = await claimDueTargets(tx, { ...CLAIM, enoughTargets: 11 });
    expect(accounts.map(({ targets }) => targets.length)).toEqual([5, 5, 5]);
    const [row] = await tx<{ count: number }[]>`
      select count(*)::int as count from metrics_accounts where not_before > now()`;
    expect(row?.count).toBe(3);
    const { accounts: others } = await claimDueTargets(tx, { ...CLAIM, enoughTargets: 1 });
    expect(others.length).toBe(1);
    expect(accounts.map(({ accountId }) => accountId)).not.toContain(others[0]?.accountId);
  });
});

test("a claim of due metrics reads about as many rows as it returns, also while 100,000 targets are due", async () => {
  await stage.sql.begin(async (tx) => {
    const before = await readCounts(tx);
    const { accounts } = await claimDueTargets(tx, { ...CLAIM, enoughTargets: 1_000 });
    expect(accounts.length).toBe(20);
    expect(accounts.every(({ targets }) => targets.length === 5)).toBe(true);
    const after = await readCounts(tx);
    expect(after.scans - before.scans).toBe(0);
    expect(after.rows - before.rows).toBeLessThan(300);
  });
});

test("a claim of due metrics reads few rows and gives another workspace its turn, also while 100,000 accounts of one workspace are due", async () => {
  const [flood, other] = [newId(), newId()];
  await stage.database.migrationSql`
    insert into metrics_accounts (account_id, workspace_id, platform, due_at)
    select gen_random_uuid(), ${flood}, 'youtube', now() - interval '1 day' + number * interval '1 millisecond'
    from generate_series(1, 100000) as number`;
  await stage.sql`
    insert into metrics_accounts (account_id, workspace_id, platform, due_at)
    values (gen_random_uuid(), ${other}, 'youtube', now())`;
  await stage.database.migrationSql`analyze metrics_accounts`;
  await stage.sql.begin(async (tx) => {
    const before = await readCounts(tx);
    const claim = { ...CLAIM, platform: "youtube", enoughTargets: 1_000 };
    const { accounts } = await claimDueTargets(tx, claim);
    expect(accounts.length).toBe(20);
    expect(accounts.map(({ workspaceId }) => workspaceId)).toContain(other);
    const after = await readCounts(tx);
    expect(after.scans - before.scans).toBe(0);
    expect(after.rows - before.rows).toBeLessThan(300);
  });
});

/**
 * Returns the number of sequential scans of this connection, and of the rows that its index scans
 * have read.
 */
async function readCounts(tx: TransactionSql): Promise<{ scans: number; rows: number }> {
  const [row] = await tx<{ scans: number; rows: number }[]>`
    select coalesce(sum(seq_scan), 0)::int as scans, coalesce(sum(idx_tup_fetch), 0)::int as rows
    from pg_stat_xact_user_tables
    where relname in ('metrics_accounts', 'target_metrics')`;
  if (row === undefined) throw new Error("there are no statistics");
  return row;
}
