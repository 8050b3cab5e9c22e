import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { recordImport } from "@postrider/shared/workspaces/import-state";
import { expect, test } from "vitest";
import {
  deleteAgedBackfills,
  deleteUnusedRules,
  deleteUnwatchedMedia,
} from "#src/engagement/db/old-rows.ts";
import { deleteOldRevoked } from "#src/webhooks/db/subscriptions.ts";
import { openDatabase } from "./publishing/fixture.ts";

const DAYS = 40;
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
const [OLD, YOUNG] = [daysAgo(DAYS + 1), daysAgo(DAYS - 1)];

async function insertRule(sql: Sql, status: string, updatedAt: Date): Promise<string> {
  const id = newId();
  await sql`
    insert into automation_rules (
      id, workspace_id, account_id, platform, name, keywords, match, exclude_keywords, message, status, activated_at,
      created_at, updated_at
    )
    values (${id}, ${newId()}, ${newId()}, 'instagram', 'r', '{a}', 'any', '{}', 'm', ${status}, now(), now(), ${updatedAt})`;
  return id;
}

async function insertBackfill(sql: Sql, ruleId: string, updatedAt: Date): Promise<string> {
  const [id, workspaceId] = [newId(), newId()];
  await sql`
    insert into backfills (
      id, workspace_id, account_id, rule_id, media_id, status, pages, prepared, skipped, unmatched, bytes, updated_at
    )
    values (${id}, ${workspaceId}, ${newId()}, ${ruleId}, 'm', 'completed', 1, 0, 0, 1, 1, ${updatedAt})`;
  await sql`
    insert into backfill_results (backfill_id, position, workspace_id, comment_id, comment, outcome)
    values (${id}, 1, ${workspaceId}, 'c', '', 'no_match')`;
  return id;
}

async function listIds(sql: Sql, table: string): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`select id from ${sql(table)} order by id`;
  return rows.map(({ id }) => id);
}

test("jobs on past comments that have not changed for the given days are deleted with their results", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const rule = await insertRule(sql, "active", YOUNG);
  await insertBackfill(sql, rule, OLD);
  const young = await insertBackfill(sql, rule, YOUNG);
  expect(await deleteAgedBackfills(sql, DAYS, 10)).toBe(1);
  expect(await listIds(sql, "backfills")).toEqual([young]);
  expect(await sql`select backfill_id from backfill_results`).toEqual([{ backfillId: young }]);
});

test("a rule that was revoked before the given days is deleted when it has no run and no job, and other rules stay", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  await insertRule(sql, "revoked", OLD);
  const kept = [
    await insertRule(sql, "revoked", YOUNG),
    await insertRule(sql, "paused", OLD),
    await insertRule(sql, "revoked", OLD),
    await insertRule(sql, "revoked", OLD),
  ];
  const [, , withJob = "", withRun = ""] = kept;
  await insertBackfill(sql, withJob, YOUNG);
  await sql`
    insert into automation_runs (id, workspace_id, account_id, rule_id, comment_id, media_id, status)
    values (${newId()}, ${newId()}, ${newId()}, ${withRun}, 'c', 'm', 'sent')`;
  expect(await deleteUnusedRules(sql, DAYS, 10)).toBe(1);
  expect(await listIds(sql, "automation_rules")).toEqual(kept);
});

test("a revoked rule of a workspace that is being imported stays, because its runs come after it", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const id = await insertRule(sql, "revoked", OLD);
  const [rule] = await sql<{ workspaceId: string }[]>`select workspace_id from automation_rules`;
  const workspaceId = rule?.workspaceId ?? "";
  await sql.begin((tx) => recordImport(tx, workspaceId, "workspace.import"));
  expect(await deleteUnusedRules(sql, DAYS, 10)).toBe(0);
  expect(await listIds(sql, "automation_rules")).toEqual([id]);
  await sql.begin((tx) => recordImport(tx, workspaceId, "workspace.finish_import"));
  expect(await deleteUnusedRules(sql, DAYS, 10)).toBe(1);
});

test("what is known of comments on media is deleted when their account has no active rule", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const insert = async (pollAt: string) => {
    const [accountId, workspaceId] = [newId(), newId()];
    await sql`
      insert into automation_accounts (account_id, workspace_id, platform, poll_at)
      values (${accountId}, ${workspaceId}, 'instagram', ${pollAt}::text::timestamptz)`;
    await sql`
      insert into automation_media (account_id, media_id, workspace_id, read_at)
      values (${accountId}, 'm', ${workspaceId}, now())`;
    return accountId;
  };
  await insert("infinity");
  const polled = await insert("2026-01-01T00:00:00Z");
  expect(await deleteUnwatchedMedia(sql, 10)).toBe(1);
  expect(await sql`select account_id from automation_media`).toEqual([{ accountId: polled }]);
});

test("a webhook subscription that was revoked before the given days is deleted with its secrets when its dispatcher's row is gone", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const insert = async (status: string, updatedAt: Date, isLeased = false) => {
    const [id, workspaceId] = [newId(), newId()];
    await sql`
      insert into webhook_subscriptions (id, workspace_id, url, description, events, status, signing, updated_at)
      values (${id}, ${workspaceId}, 'https://example.test', '', '{*}', ${status}, 'hmac-sha256', ${updatedAt})`;
    await sql`
      insert into webhook_secrets (id, subscription_id, workspace_id, sealed)
      values (${newId()}, ${id}, ${workspaceId}, 's')`;
    if (isLeased)
      await sql`insert into webhook_leases (subscription_id, workspace_id) values (${id}, ${workspaceId})`;
    return id;
  };
  await insert("revoked", OLD);
  const kept = [
    await insert("revoked", YOUNG),
    await insert("paused", OLD),
    await insert("revoked", OLD, true),
  ];
  expect(await deleteOldRevoked(sql, DAYS, 10)).toBe(1);
  expect(await listIds(sql, "webhook_subscriptions")).toEqual(kept);
  expect(await sql`select from webhook_secrets`).toHaveLength(3);
});
