import { createSecretKey, randomBytes } from "node:crypto";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import {
  changed,
  expectEachTableDecided,
  type ExportedRows,
  exportRows,
  openImport,
} from "@postrider/shared/testing/workspace-import";
import { fillTwoWorkspaces } from "@postrider/shared/testing/workspace-removal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { confirmExternalAccounts } from "#src/db/external-accounts.ts";
import { hasBlockedReplies, storeSending } from "#src/engagement/db/automation-sending.ts";
import { releaseImportedEngagement } from "#src/engagement/db/workspace-import.ts";
import { IMPORT_RULES } from "#src/operations/import-rules.ts";
import { releaseImportedTasks, stopImport } from "#src/publishing/db/workspace-import.ts";
import { stopWorkspaces } from "#src/publishing/db/workspace-removal.ts";
import { deliveryRemoval } from "#src/publishing/jobs/remove-workspaces.ts";
import { openSecret } from "#src/webhooks/db/secrets.ts";
import { releaseImportedWebhooks } from "#src/webhooks/operations/workspace-webhooks.ts";
import { openDatabase } from "./publishing/fixture.ts";

const sealingKeys = [{ id: "k1", secret: createSecretKey(randomBytes(32)) }];

let one: string;
let exported: ExportedRows;
beforeAll(async () => {
  await using source = await openDatabase();
  const { sql } = source;
  ({ removed: one } = await fillTwoWorkspaces(source));
  await sql`update publish_tasks set status = 'published', account_id = gen_random_uuid()`;
  await sql`update automation_rules set status = 'active', activated_at = now()`;
  for (const table of [
    "publish_tasks",
    "detail_questions",
    "automation_rules",
    "comment_actions",
    "target_metrics",
  ])
    await sql`update ${sql(table)} set platform = 'x'`;
  await sql`
    update webhook_subscriptions
    set status = 'active', signing = 'hmac-sha256', public_key = null, url = 'https://example.com', events = '{*}',
      disabled_reason = null`;
  exported = await exportRows(sql, EXPORTED_TABLES, one);
});

async function open() {
  const database = await openDatabase();
  const { sql } = database;
  const given = openImport({
    sql,
    tables: EXPORTED_TABLES,
    rules: IMPORT_RULES,
    prepare: stopImport,
    release: async (workspaceId, isCopy) => {
      await releaseImportedTasks(sql, workspaceId, isCopy);
      await releaseImportedEngagement(sql, workspaceId, isCopy);
      await releaseImportedWebhooks(sql, { sealingKeys }, workspaceId);
    },
  });
  await given.prepare(one);
  return { ...given, ...database };
}

function withTask(values: object): ExportedRows {
  return { ...exported, publish_tasks: [changed(exported.publish_tasks?.[0], values)] };
}

async function readTask(sql: Sql) {
  const [task] = await sql`
    select status, is_cancelled, open_unknowns, wake_at <= now() as is_awake,
      first_unknown_at = called_at as is_searched_from_call, is_restored,
      error_code
    from publish_tasks`;
  return task;
}

const OPEN = {
  open_unknowns: 0,
  unknown_count: 0,
  is_restored: false,
  is_cancelled: false,
  published_at: null,
};
const CALLING = {
  ...OPEN,
  status: "calling",
  error_code: null,
  first_unknown_at: null,
  called_at: "2026-11-20T09:00:00+00:00",
  call_until: "2026-11-20T09:01:00+00:00",
};

test("each table of delivery is exported or has a reason not to be", async () => {
  await using given = await open();
  await expectEachTableDecided(given.sql, EXPORTED_TABLES, {
    account_breakers: "limits are met again",
    account_queues: "made from the tasks",
    app_budget_shares: "of the installation's apps",
    app_budgets: "of the installation",
    automation_accounts: "polled anew",
    automation_media: "read anew; handled comments have runs",
    automation_sending: "of the installation",
    backfill_results: "do not go along",
    backfills: "do not go along",
    comment_action_queues: "made from the actions",
    deletion_queues: "made from the deletions",
    deletion_tasks: "carried out before a move, requested anew by posts after another import",
    inbox_comments: "read anew",
    inbox_reads: "read anew",
    live_checks: "a check of the installation",
    metrics_accounts: "made from the metrics",
    pauses: "carried by the tool",
    platform_breakers: "of the installation",
    platform_limits: "of the installation",
    webhook_attempts: "history",
    webhook_compositions: "sent by the old cell",
    webhook_deliveries: "history",
    webhook_events: "history",
    webhook_leases: "made from the subscriptions",
    webhook_queue: "sent by the old cell",
    webhook_secrets: "sealed for the other cell, or new",
    webhook_usage: "of the history",
    webhook_usage_changes: "of the history",
  });
});

test("a published target whose id the platform has not returned yet is asked about after the import, for no longer than before", async () => {
  await using given = await open();
  const question = {
    created_at: "2026-11-20T09:00:00+00:00",
    wake_at: "2026-11-20T09:05:00+00:00",
  };
  const questions = [changed(exported.detail_questions?.[0], question)];
  await given.importAll(one, { ...exported, detail_questions: questions });
  const read = async () =>
    await given.sql`
      select created_at, wake_at <= now() as is_asked
      from detail_questions`;
  const createdAt = new Date(question.created_at);
  expect(await read()).toEqual([{ createdAt, isAsked: false }]);
  await given.release(one);
  expect(await read()).toEqual([{ createdAt, isAsked: true }]);
});

test("an imported question for a post id ends a day after its import at the latest", async () => {
  await using given = await open();
  const future = { created_at: new Date(Date.now() + 365 * 86_400_000).toISOString() };
  const questions = [changed(exported.detail_questions?.[0], future)];
  await given.importAll(one, { ...exported, detail_questions: questions });
  const rows = await given.sql`select created_at <= now() as is_past from detail_questions`;
  expect(rows).toEqual([{ isPast: true }]);
});

const LONG = "x".repeat(5_000);

describe("an import refuses", () => {
  let refusing: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    refusing = await open();
  });
  afterAll(() => refusing[Symbol.asyncDispose]());

  test.each<[string, string, unknown]>([
    ["webhook_subscriptions", "version", 2 ** 40],
    ["webhook_subscriptions", "url", "example.com"],
    ["webhook_subscriptions", "events", ["post.exploded"]],
    ["webhook_subscriptions", "max_per_second", 0],
    ["webhook_subscriptions", "description", LONG],
    ["automation_rules", "keywords", Array.from({ length: 51 }, (_, index) => `word ${index}`)],
    ["automation_rules", "keywords", ["x".repeat(101)]],
    ["automation_rules", "exclude_keywords", [" "]],
    ["automation_rules", "media_ids", [""]],
    ["automation_rules", "message", "x".repeat(1_001)],
    ["automation_rules", "platform", "constructor"],
    ["automation_runs", "version", 2 ** 40],
    ["automation_runs", "comment_id", LONG],
    ["comment_actions", "text", "x".repeat(20_001)],
    ["comment_actions", "retry_count", -1],
    ["comment_actions", "further_ids", [null]],
    ["publish_tasks", "generation", 1_001],
    ["publish_tasks", "version", 2 ** 40],
    ["publish_tasks", "permalink", LONG],
    ["publish_tasks", "external_id", LONG],
    ["publish_attempts", "number", 100_001],
    ["detail_questions", "handles", { media: { id: 1 } }],
    ["detail_questions", "asked_count", -1],
    ["target_metrics", "views", -1],
  ])(
    "a row of %s whose %s is not one that the service stores: %j",
    async (table, column, value) => {
      const rows = [changed(exported[table]?.[0], { [column]: value })];
      await expect(
        refusing.client.importRows({ workspaceId: one, table, rows }),
      ).rejects.toMatchObject({
        violations: [{ code: "invalid", path: `/rows/0/${column}` }],
      });
    },
  );
});

test.each([
  ["webhook_subscriptions", 50],
  ["automation_rules", 100],
])(
  "no more rows of %s than a workspace may have are imported, beside those that are revoked",
  async (table, limit) => {
    await using given = await open();
    const importNew = async (count: number, status: string) => {
      const rows = Array.from({ length: count }, () =>
        changed(exported[table]?.[0], { id: newId(), status }),
      );
      await given.client.importRows({ workspaceId: one, table, rows });
    };
    await importNew(limit, "paused");
    await importNew(1, "revoked");
    await expect(importNew(1, "paused")).rejects.toMatchObject({
      violations: [{ code: "too_many", path: "/rows", limit, actual: limit + 1 }],
    });
  },
);

test("each exported row of a workspace is there after its import, and what sends by itself is paused", async () => {
  await using given = await open();
  expect(await given.importAll(one, exported)).toBe(0);
  await given.release(one);
  const again = await exportRows(given.sql, EXPORTED_TABLES, one);
  const counts = (rows: ExportedRows) =>
    Object.entries(rows).map(([name, texts]) => [name, texts.length]);
  expect(counts(again)).toEqual(counts(exported));
  expect(JSON.parse(again.publish_tasks?.[0] ?? "")).toMatchObject({ status: "published" });
  expect(JSON.parse(again.automation_rules?.[0] ?? "")).toMatchObject({ status: "paused" });
  expect(JSON.parse(again.webhook_subscriptions?.[0] ?? "")).toMatchObject({ status: "paused" });
});

test("a publishing call that was in progress when it was exported has an unknown outcome, which is searched for from its beginning after the import", async () => {
  await using given = await open();
  await given.importAll(one, withTask(CALLING));
  const unknown = {
    status: "unknown",
    isCancelled: false,
    openUnknowns: 1,
    isSearchedFromCall: true,
    isRestored: true,
    errorCode: "outcome_unknown",
  };
  expect(await readTask(given.sql)).toEqual({ ...unknown, isAwake: false });
  await given.release(one);
  expect(await readTask(given.sql)).toEqual({ ...unknown, isAwake: true });
});

test.each(["queued", "working", "unknown", "reconciling"])(
  "a target that is %s and that an earlier call may have published is searched for by its content after the import, and not sent before",
  async (status) => {
    await using given = await open();
    const uncertain = { ...CALLING, status, open_unknowns: 1, unknown_count: 1, looks: 2 };
    const [task, twin] = [{}, { target_id: newId(), due_at: "2026-11-20T09:00:00+00:00" }].map(
      (own) => changed(exported.publish_tasks?.[0], { ...uncertain, content_hash: "same", ...own }),
    );
    await given.importAll(one, { ...exported, publish_tasks: [task ?? "", twin ?? ""] });
    const rests = {
      status: "unknown",
      openUnknowns: 1,
      isRestored: true,
      isAwake: false,
      // What the platform still processes has no error.
      errorCode: status === "queued" || status === "working" ? "outcome_unknown" : null,
    };
    expect(await readTask(given.sql)).toMatchObject(rests);
    await given.release(one);
    expect(await readTask(given.sql)).toMatchObject({ ...rests, isAwake: true });
  },
);

test("a target with an unknown outcome is searched for, even if the export does not say when its call was", async () => {
  await using given = await open();
  const unknown = { ...CALLING, status: "unknown", called_at: null, call_until: null };
  await given.importAll(one, withTask(unknown));
  const [task] = await given.sql`
    select first_unknown_at <= now() as is_past, call_until <= now() as is_lapsed
    from publish_tasks`;
  expect(task).toEqual({ isPast: true, isLapsed: true });
});

test.each([
  ["publish_attempts", "target_id", "publish_tasks", { number: 77 }],
  ["detail_questions", "target_id", "publish_tasks", { generation: 77 }],
  ["comment_actions", "run_id", "automation_runs", { id: newId(), comment_id: "other" }],
  ["comment_actions", "rule_id", "automation_rules", { id: newId(), comment_id: "other" }],
  [
    "target_metric_history",
    "target_id",
    "target_metrics",
    { refreshed_at: "2026-11-20T09:00:00+00:00" },
  ],
])(
  "a row of %s whose %s names a row of %s of another workspace is left out",
  async (table, column, referred, values) => {
    await using given = await open();
    await given.importAll(one, exported);
    const { id, ...ids } = JSON.parse(exported[referred]?.[0] ?? "") as Record<string, string>;
    const named = id ?? ids[column];
    const rows = [changed(exported[table]?.[0], { ...values, [column]: named })];
    const count = async () =>
      (await given.sql`select from ${given.sql(table)} where ${given.sql(column)} = ${named ?? ""}`)
        .length;
    const before = await count();
    await given.sql`update ${given.sql(referred)} set workspace_id = ${newId()}`;
    expect(await given.importAll(one, { [table]: rows })).toBe(1);
    expect(await count()).toBe(before);
  },
);

test("a target whose publishing call had not begun waits again after the import, and takes no place in work", async () => {
  await using given = await open();
  await given.importAll(one, withTask({ ...OPEN, status: "working" }));
  await given.release(one);
  expect(await readTask(given.sql)).toMatchObject({
    status: "queued",
    openUnknowns: 0,
    isRestored: false,
    isAwake: true,
  });
});

test("what was not finished is never sent when the exported workspace may have gone on", async () => {
  await using given = await open();
  const action = { status: "queued", finished_at: null, external_id: null, error_code: null };
  const actions = [changed(exported.comment_actions?.[0], action)];
  await given.importAll(one, { ...withTask(CALLING), comment_actions: actions });
  await given.release(one, true);
  expect(await readTask(given.sql)).toMatchObject({ status: "dropped", isCancelled: true });
  const [failed] = await given.sql`select status, error_code from comment_actions`;
  expect(failed).toEqual({ status: "failed", errorCode: "outcome_unknown" });
});

/** A private reply that is being searched for, with its run, and both after it was found. */
function searchedReply() {
  const run_id = newId();
  const of = (table: string, values: object) => [changed(exported[table]?.[0], values)];
  const reply = { type: "private_reply", text: "Hi", rule_id: newId(), run_id };
  const open = { ...reply, status: "unknown", open_unknowns: 1, finished_at: null };
  const found = { ...reply, status: "succeeded", open_unknowns: 0, error_code: null };
  const before: ExportedRows = {
    ...exported,
    comment_actions: of("comment_actions", open),
    automation_runs: of("automation_runs", { id: run_id, status: "prepared", reason: null }),
  };
  const after: ExportedRows = {
    ...exported,
    comment_actions: of("comment_actions", { ...found, finished_at: "2026-11-20T09:00:00+00:00" }),
    automation_runs: of("automation_runs", { id: run_id, status: "sent", reason: null }),
  };
  return { before, after };
}

test("no run waits for a private reply that has ended, whichever tables of an export were read before its end", async () => {
  await using given = await open();
  const { before, after } = searchedReply();
  const tables = Object.keys(EXPORTED_TABLES);
  for (let count = 0; count <= tables.length; count += 1) {
    await given.sql`delete from automation_runs`;
    await given.sql`delete from comment_actions`;
    const rows = tables.map((table, index) => [table, (index < count ? before : after)[table]]);
    await given.importAll(one, Object.fromEntries(rows) as ExportedRows);
    const waiting = await given.sql`
      select
      from automation_runs r
      join comment_actions a on a.run_id = r.id
      where r.status = 'prepared' and a.status = 'succeeded'`;
    expect([tables[count], waiting]).toEqual([tables[count], []]);
  }
});

test("the runs of private replies that waited end with them when the exported workspace may have gone on", async () => {
  await using given = await open();
  await given.importAll(one, searchedReply().before);
  await given.release(one, true);
  const runs = await given.sql`
    select r.status, r.reason, a.status as reply
    from automation_runs r
    join comment_actions a on a.run_id = r.id`;
  expect(runs).toEqual([{ status: "failed", reason: "outcome_unknown", reply: "failed" }]);
});

test("a private reply that waited is not blocked after its import, although the sending of private replies was enabled later here", async () => {
  await using given = await open();
  const { sql } = given;
  await storeSending(sql, true);
  const reply = {
    type: "private_reply",
    text: "Hi",
    rule_id: newId(),
    run_id: newId(),
    status: "queued",
    open_unknowns: 0,
    finished_at: null,
    created_at: "2026-11-20T09:00:00+00:00",
  };
  const rows = [changed(exported.comment_actions?.[0], reply)];
  await given.importAll(one, { comment_actions: rows });
  expect(await sql`select where ${hasBlockedReplies(sql)}`).toHaveLength(0);
  await storeSending(sql, false);
  expect(await sql`select where ${hasBlockedReplies(sql)}`).toHaveLength(1);
});

/** Makes statements fail that change more rows of the table. */
async function refuseLargeUpdates(migrationSql: Sql, table: string, most: number): Promise<void> {
  await migrationSql.unsafe(`
    create function refuse_large_${table}() returns trigger language plpgsql as $$
    begin
      if (select count(*) from changed) > ${most} then raise exception 'too many rows'; end if;
      return null;
    end;
    $$;
    create trigger refuse_large after update on ${table}
      referencing new table as changed
      for each statement execute function refuse_large_${table}();`);
}

test.each([
  ["wakes", false, "queued"],
  ["ends", true, "dropped"],
])(
  "the release of a large imported workspace %s its calls in pages, so that it ends within the time limit of a statement",
  async (_what, isCopy, status) => {
    await using given = await open();
    const { sql, migrationSql } = given;
    const accountId = newId();
    for (const table of ["publish_tasks", "comment_actions", "detail_questions"])
      await refuseLargeUpdates(migrationSql, table, 1_000);
    await sql`
      insert into publish_tasks (
        target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at, publish_before,
        attempt_number
      )
      select gen_random_uuid(), 1, ${one}, gen_random_uuid(), ${accountId}, 'x', 'queued', now() + interval '400 days',
        now(), now(), 0
      from generate_series(1, 2_100)`;
    await sql`
      insert into detail_questions (target_id, generation, workspace_id, account_id, platform, handles, wake_at)
      select target_id, generation, workspace_id, account_id, platform, '{}', wake_at
      from publish_tasks`;
    await sql`
      insert into comment_actions (
        id, workspace_id, account_id, platform, media_id, comment_id, type, call_key, send_before, status, wake_at
      )
      select gen_random_uuid(), ${one}, ${accountId}, 'instagram', 'm', (n / 2)::text, 'hide', 'k', now(), 'queued',
        now() + interval '400 days'
      from generate_series(1, 2_100) as n`;

    await releaseImportedTasks(sql, one, isCopy);
    await releaseImportedEngagement(sql, one, isCopy);

    const tasks = await sql`
      select status, count(*)::int as count
      from publish_tasks
      where ${isCopy}::boolean or wake_at <= now()
      group by status`;
    expect(tasks).toEqual([{ status, count: 2_100 }]);
    const resting = await sql`
      select
      from comment_actions
      where status = 'queued' and wake_at > now()
      union all
      select
      from detail_questions
      where wake_at > now() + interval '1 hour'`;
    expect(resting).toHaveLength(0);
  },
);

test("of many imported requests to hide or show one comment, only the last waits after the import", async () => {
  await using given = await open();
  const actions = Array.from({ length: 300 }, (_, index) =>
    changed(exported.comment_actions?.[0], {
      id: newId(),
      type: index % 2 === 0 ? "hide" : "unhide",
      text: null,
      rule_id: null,
      run_id: null,
      status: "queued",
      finished_at: null,
      created_at: new Date(Date.UTC(2026, 10, 20, 9, 0, index)).toISOString(),
    }),
  );
  await given.importAll(one, { comment_actions: actions });
  await given.release(one);
  const rows = await given.sql`
    select status, error_code, count(*)::int as count, max(created_at) as last_at
    from comment_actions
    group by status, error_code
    order by status`;
  expect(rows).toMatchObject([
    { status: "failed", errorCode: "duplicate_detected", count: 299 },
    { status: "queued", count: 1, lastAt: new Date(Date.UTC(2026, 10, 20, 9, 0, 299)) },
  ]);
});

test.each([
  ["publish_tasks", "published"],
  ["comment_actions", "succeeded"],
])(
  "rows of %s that an export brings block no call of the account of the platform that they name, and own nothing on it",
  async (table, success) => {
    await using given = await open();
    const claim = { external_account_id: "another's", account_id: one, platform: "x" };
    const read = async (values: object) => {
      await given.sql`delete from ${given.sql(table)}`;
      await given.importAll(one, {
        [table]: [changed(exported[table]?.[0], { ...claim, ...values })],
      });
      return await given.sql`
        select external_account_id, unconfirmed_account_id
        from ${given.sql(table)}`;
    };
    const isAction = table === "comment_actions";
    const [unended, ended] = isAction
      ? [{ finished_at: null }, { finished_at: "2026-11-20T09:00:00+00:00" }]
      : [{}, {}];
    expect(await read({ status: "unknown", ...unended })).toEqual([
      { externalAccountId: null, unconfirmedAccountId: "another's" },
    ]);
    expect(await read({ status: success, ...ended })).toEqual([
      { externalAccountId: null, unconfirmedAccountId: "another's" },
    ]);
    expect(await read({ status: success, ...ended, external_account_id: null })).toEqual([
      { externalAccountId: null, unconfirmedAccountId: "" },
    ]);
  },
);

test("of a workspace that another cell has handed over, ended targets get the accounts that they name, and those that name none, like those imported there, still own nothing", async () => {
  await using given = await open();
  const claim = async (values: object) => {
    await given.sql`delete from publish_tasks`;
    await given.importAll(one, withTask({ external_account_id: "theirs", ...values }));
    await confirmExternalAccounts(given.sql, one);
    return await given.sql`
      select external_account_id, unconfirmed_account_id
      from publish_tasks`;
  };
  expect(await claim({})).toEqual([{ externalAccountId: "theirs", unconfirmedAccountId: null }]);
  expect(await claim({ external_account_id: null })).toEqual([
    { externalAccountId: null, unconfirmedAccountId: "" },
  ]);
  expect(await claim({ ...OPEN, status: "queued" })).toEqual([
    { externalAccountId: null, unconfirmedAccountId: "theirs" },
  ]);
});

test("an imported webhook subscription has a new secret and can be leased", async () => {
  await using given = await open();
  await given.importAll(one, exported);
  await given.release(one);
  const [row] = await given.sql<
    { id: string; subscriptionId: string; sealed: string; leases: number }[]
  >`
    select id, subscription_id, sealed, (select count(*)::int from webhook_leases) as leases
    from webhook_secrets`;
  if (row === undefined) throw new Error("the subscription has no secret");
  expect(openSecret(sealingKeys, row)).toMatch(/^whsec_/);
  expect(row.leases).toBe(1);
});

test("a workspace is stopped before its first row is imported, and the stop ends although no list of stopped workspaces has shown it", async () => {
  await using given = await open();
  const { sql } = given;
  const removal = deliveryRemoval(sql);
  const countStops = async () => (await sql`select from pauses where kind = 'deletion'`).length;
  expect(await countStops()).toBe(1);
  await removal.onList?.([]);
  expect(await countStops()).toBe(1);
  await sql`update pauses set created_at = now() - interval '1 second'`;
  await removal.onAsk?.();
  await removal.onList?.([]);
  expect(await countStops()).toBe(0);
  expect(await stopWorkspaces(sql, [])).toBe(false);
});
