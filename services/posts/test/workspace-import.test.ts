import { newId } from "@postrider/shared/ids";
import { createTestDatabase } from "@postrider/shared/testing/database";
import {
  changed,
  expectEachTableDecided,
  type ExportedRows,
  exportRows,
  openImport,
} from "@postrider/shared/testing/workspace-import";
import { fillTwoWorkspaces, removeWorkspace } from "@postrider/shared/testing/workspace-removal";
import { isRemoved, recordRemoval } from "@postrider/shared/workspaces/removed-workspaces";
import { beforeAll, describe, expect, test } from "vitest";
import { MIGRATIONS } from "#src/config.ts";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { releaseImportedPosts } from "#src/db/imported-posts.ts";
import { listQuotaUsage, moveQuota, reserveQuota } from "#src/db/quota-usage.ts";
import { FIRST_SILENCE, takeSilentDeletions } from "#src/db/silent-targets.ts";
import { applyDeletionUpdate, type DeletableState } from "#src/domain/deletion.ts";
import { INSTALLATION, quotaDemands, SHARED_LIMITS } from "#src/domain/quota.ts";
import { IMPORT_RULES } from "#src/operations/import-rules.ts";

async function createDatabase() {
  return await createTestDatabase({ service: "posts", migrationsFolder: MIGRATIONS });
}

/** A workspace with a row in each table: one scheduled post, which has a target. */
let one: string;
let exported: ExportedRows;
beforeAll(async () => {
  await using source = await createDatabase();
  ({ removed: one } = await fillTwoWorkspaces(source));
  await source.sql`
    update posts
    set status = 'scheduled', scheduled_at = now(), started_at = null, options = '{}', media = '[]',
      platforms = '{x}'`;
  await source.sql`
    update targets
    set status = 'pending', platform = 'x', settings = null, metrics = null, generation = 1,
      due_at = '2026-11-20T09:00:00Z', publish_before = now() + interval '1 day', due_day = '2026-11-20'`;
  await source.sql`update target_attempts set outcome = 'published'`;
  await source.sql`update quota_usage set subject = 'x', period = '2026-11-20', reserved = 3`;
  await source.sql`update idempotency_keys set options = '{}'`;
  await source.sql`
    update queue_slot_rules
    set weekdays = '{mon}', times = '{09:30}', timezone = 'UTC', starts_on = null, ends_on = null`;
  await source.sql`
    update duplicate_guards
    set content_hash = '\\x01', due_at = now(), expires_at = null`;
  exported = await exportRows(source.sql, EXPORTED_TABLES, one);
});

async function open() {
  const database = await createDatabase();
  const { sql } = database;
  const given = openImport({
    sql,
    tables: EXPORTED_TABLES,
    rules: IMPORT_RULES,
    release: (workspaceId, isCopy) => releaseImportedPosts(sql, workspaceId, isCopy, SHARED_LIMITS),
  });
  const count = async (): Promise<number> =>
    (await sql`select from posts`).length + (await sql`select from targets`).length;
  return { ...given, ...database, count };
}

/** What is exported again, without the columns that an import sets. */
function comparable(rows: ExportedRows): object {
  return Object.fromEntries(
    Object.entries(rows).map(([table, texts]) => {
      const { imported = {} } = EXPORTED_TABLES[table] ?? {};
      const kept = texts.map((text) =>
        Object.entries(JSON.parse(text) as object).filter(
          ([column]) => !Object.hasOwn(imported, column) || column === "status",
        ),
      );
      return [table, kept.map((entries) => Object.fromEntries(entries) as object)];
    }),
  );
}

test("each table of posts is exported or has a reason not to be", async () => {
  await using given = await open();
  await expectEachTableDecided(given.sql, EXPORTED_TABLES, {
    post_limits: "of the installation",
    post_usage: "counted from the posts",
  });
});

test("an imported workspace has every exported row again, and its scheduled post is cancelled until the import is released", async () => {
  await using given = await open();
  await given.prepare(one);
  expect(await given.importAll(one, exported)).toBe(0);
  const [held] = await given.sql`
    select p.status, t.last_report_at = 'infinity' as is_silent
    from posts p
    join targets t on t.post_id = p.id`;
  expect(held).toEqual({ status: "cancelled", isSilent: true });

  await given.release(one);
  const again = await exportRows(given.sql, EXPORTED_TABLES, one);
  expect(comparable(again)).toEqual(comparable(exported));
  expect(Object.values(again).map((rows) => rows.length)).toEqual(
    Object.keys(EXPORTED_TABLES).map(() => 1),
  );
});

test("a post that was in progress is in progress again after the import, so that the sweep asks about its target", async () => {
  await using given = await open();
  await given.prepare(one);
  const posts = [
    changed(exported.posts?.[0], { status: "publishing", started_at: "2026-11-20T09:00:00+00:00" }),
  ];
  await given.importAll(one, { ...exported, posts });
  await given.release(one);
  const [row] = await given.sql`
    select p.status, t.last_report_at <= now() as is_asked
    from posts p
    join targets t on t.post_id = p.id`;
  expect(row).toEqual({ status: "publishing", isAsked: true });
});

test.each([
  [["published"], "published"],
  [["failed"], "failed"],
  [["failed", "published"], "partial"],
  [["published", "cancelled"], "cancelled"],
])(
  "a post in progress whose targets ended as %j before they were exported is %s after the import, also after that of a copy",
  async (statuses, status) => {
    await using given = await open();
    for (const isCopy of [false, true]) {
      await given.prepare(one);
      const id = newId();
      const progress = { id, status: "publishing", started_at: AT, queue_slot_rule_id: null };
      const targets = statuses.map((ended, ordinal) => {
        const published_at = ended === "published" ? AT : null;
        const own = { id: newId(), post_id: id, ordinal, status: ended, published_at };
        return changed(exported.targets?.[0], own);
      });
      await given.importAll(one, { posts: [changed(exported.posts?.[0], progress)], targets });
      await given.release(one, isCopy);
      const [post] =
        await given.sql`select status, published_at, cause from posts where id = ${id}`;
      const publishedAt = statuses.includes("published") ? new Date(AT) : null;
      expect(post).toEqual({ status, publishedAt, cause: null });
    }
  },
);

test("nothing asks about a scheduled target of an imported workspace before it is due", async () => {
  await using given = await open();
  await given.prepare(one);
  const dueAt = new Date(Date.now() + 30 * 86_400_000).toISOString();
  const due = { due_at: dueAt, due_day: dueAt.slice(0, 10) };
  await given.importAll(one, { ...exported, targets: [changed(exported.targets?.[0], due)] });
  await given.release(one);
  const [row] = await given.sql`select last_report_at = due_at as is_undisturbed from targets`;
  expect(row).toEqual({ isUndisturbed: true });
});

/** Imports the workspace with a target whose deletion was in progress, and does not release it. */
async function openWithDeletion() {
  const given = await open();
  await given.prepare(one);
  const deleting = {
    status: "deleting",
    deletion: 1,
    deletion_version: 7,
    deletion_requested_at: AT,
    last_report_at: AT,
  };
  await given.importAll(one, {
    ...exported,
    targets: [changed(exported.targets?.[0], deleting)],
  });
  return given;
}

test.each([false, true])(
  "a deletion that was in progress is not requested before the import is released, and is after it (isCopy: %s)",
  async (isCopy) => {
    await using given = await openWithDeletion();
    const page = { silentMs: -1, limit: 10, since: FIRST_SILENCE };
    expect(await takeSilentDeletions(given.sql, page)).toEqual([]);
    await given.release(one, isCopy);
    const asked = await takeSilentDeletions(given.sql, page);
    expect(asked.map(({ deletion }) => deletion)).toEqual([1]);
  },
);

test("a post that was being deleted takes the reports about its new deletion after the import", async () => {
  await using given = await openWithDeletion();
  await given.release(one);
  const [target] = await given.sql<DeletableState[]>`
    select platform, status, deletion, deletion_version
    from targets`;
  const report = { deletion: 1, version: 1, status: "delete_failed", error: null } as const;
  expect(target && applyDeletionUpdate(target, report).status).toBe("delete_failed");
});

test.each(["scheduled", "publishing"])(
  "a %s post with a target as in a draft is cancelled by the end of an import, because it would be published without being counted",
  async (status) => {
    await using given = await open();
    await given.prepare(one);
    const started = status === "publishing" ? AT : null;
    const posts = [changed(exported.posts?.[0], { status, started_at: started })];
    const undue = { due_at: null, due_day: null, publish_before: null };
    const targets = [changed(exported.targets?.[0], undue)];
    await given.importAll(one, { ...exported, posts, targets });
    await given.release(one);
    const [row] = await given.sql`
      select p.status, t.status as target
      from posts p
      join targets t on t.post_id = p.id`;
    expect(row).toEqual({ status: "cancelled", target: "cancelled" });
  },
);

test("what was not finished is cancelled when the exported workspace may have gone on, and holds no slot, no quota and no content", async () => {
  await using given = await open();
  await given.prepare(one);
  await given.importAll(one, exported);
  await given.release(one, true);
  const [row] = await given.sql`
    select p.status, t.status as target,
      (select count(*)::int from slot_assignments) as slots,
      (select count(*)::int from duplicate_guards) as guards,
      (select sum(reserved)::int from quota_usage) as reserved
    from posts p
    join targets t on t.post_id = p.id`;
  expect(row).toEqual({
    status: "cancelled",
    target: "cancelled",
    slots: 0,
    guards: 0,
    reserved: 0,
  });
});

test("what the open posts of an imported workspace reserve of an app's limit counts once for all workspaces, whatever the file says", async () => {
  await using given = await open();
  await given.prepare(one);
  await given.importAll(one, exported);
  await given.release(one);
  await given.prepare(one);
  await given.importAll(one, exported);
  await given.release(one);
  const counters = await given.sql`
    select workspace_id, subject, used, reserved from quota_usage order by workspace_id`;
  expect(counters).toEqual([
    { workspaceId: one, subject: "x", used: 1, reserved: 1 },
    { workspaceId: INSTALLATION, subject: "x", used: 0, reserved: 1 },
  ]);
});

const DAY = { subject: "youtube", period: "2026-11-20" };

/** A workspace that has come with this many videos of one day, at most 100 of them in a post. */
async function openWithVideos(count: number) {
  const given = await open();
  await given.prepare(one);
  const posts = Array.from({ length: Math.ceil(count / 100) }, () =>
    changed(exported.posts?.[0], { id: newId(), queue_slot_rule_id: null }),
  );
  const targets = Array.from({ length: count }, (_, index) => {
    const { id } = JSON.parse(posts[Math.floor(index / 100)] ?? "") as { id: string };
    const own = { id: newId(), post_id: id, ordinal: index % 100, platform: "youtube" };
    return changed(exported.targets?.[0], own);
  });
  await given.importAll(one, { posts, targets });
  await given.release(one);
  const { sql } = given;
  /** What the limit of the project leaves for other workspaces. */
  const left = async () => {
    const [shared] = await listQuotaUsage(sql, [{ ...DAY, workspaceId: INSTALLATION }]);
    return 100 - (shared?.used ?? 0) - (shared?.reserved ?? 0);
  };
  const move = async (used: number, reserved: number) =>
    await sql.begin((tx) =>
      moveQuota(
        tx,
        [one, INSTALLATION].map((workspaceId) => {
          return { ...DAY, workspaceId, used, reserved, released: 0 };
        }),
      ),
    );
  return { ...given, left, move };
}

test("an import with more videos of one day than the project of all workspaces may publish leaves others their half, and all its videos are scheduled", async () => {
  await using given = await openWithVideos(150);
  const { sql } = given;
  expect(await given.left()).toBe(50);
  expect(await sql`select from posts where status = 'scheduled'`).toHaveLength(2);
  expect(
    await sql`select reserved from quota_usage where workspace_id = ${one} and subject = 'youtube'`,
  ).toEqual([{ reserved: 150 }]);

  const limits = { monthly: 1000, daily: 100, highestDaily: null, hasOthers: true };
  const reserve = async (count: number) => {
    const targets = Array.from({ length: count }, () => ({
      accountId: newId(),
      platform: "youtube",
    }));
    const now = new Date("2026-11-20T08:00:00Z");
    const demands = quotaDemands(newId(), targets, now, limits);
    return await sql.begin(async (tx) => (await reserveQuota(tx, { demands, now })).short);
  };
  expect(await reserve(50)).toEqual([]);
  expect(await reserve(1)).toMatchObject([{ code: "daily_shared" }]);
});

test("what an import reserves in several pages leaves other workspaces their half, too", async () => {
  await using given = await openWithVideos(30);
  for (const count of [10, 20, 1]) {
    const ids = Array.from({ length: count }, () => newId());
    await given.prepare(one);
    const posts = ids.map((id) => changed(exported.posts?.[0], { id, queue_slot_rule_id: null }));
    const targets = ids.map((id) =>
      changed(exported.targets?.[0], { id, post_id: id, platform: "youtube" }),
    );
    await given.importAll(one, { posts, targets });
    await given.release(one);
  }
  expect(await given.left()).toBe(50);
});

test("what an imported workspace gives back of a shared limit is first what was not counted for all, so that nothing is given back twice", async () => {
  await using given = await openWithVideos(150);
  const steps: readonly (readonly [string, number, number, number])[] = [
    ["60 published", 60, -60, 50],
    ["30 cancelled", 0, -30, 50],
    ["30 added by retries", 0, 30, 20],
    ["100 failed", -10, -90, 50],
    ["20 failed", -20, 0, 70],
    ["the others too", -30, 0, 100],
  ];
  for (const [title, used, reserved, left] of steps) {
    await given.move(used, reserved);
    expect([title, await given.left()]).toEqual([title, left]);
  }
  expect(await given.sql`select from quota_usage where uncounted <> 0`).toHaveLength(0);
});

test("a removed workspace whose import reserved more than a part of a shared limit gives back what it had reserved, and what it has published stays counted", async () => {
  await using given = await openWithVideos(150);
  await given.move(30, -30);
  await removeWorkspace(given.sql, one);
  expect(await given.left()).toBe(70);
});

test("an import takes the plan of a draft for a time further ahead than a post may be scheduled", async () => {
  await using given = await open();
  await given.prepare(one);
  const plan = { status: "draft", scheduled_at: "2999-01-01T00:00:00+00:00" };
  const rows = [changed(exported.posts?.[0], plan)];
  await given.client.importRows({ workspaceId: one, table: "posts", rows });
  expect(await given.sql`select from posts where status = 'draft'`).toHaveLength(1);
});

const AT = "2026-11-20T09:00:00+00:00";
const LONG = "x".repeat(300_000);

describe("an import stores nothing of a call with a row", () => {
  const faults: readonly (readonly [string, string, object, RegExp])[] = [
    ["of another workspace", "posts", { workspace_id: newId() }, /workspace_id/],
    ["with an unknown column", "posts", { "id) values (1); --": 1 }, /values/],
    ["with a column that exports leave out", "posts", { cause: {} }, /cause/],
    ["without one of its columns", "posts", { content: undefined }, /content/],
    ["with a status that does not exist", "posts", { status: "sent" }, /posts_status_check/],
    ["with an id that is not a UUID", "posts", { id: "1" }, /uuid/],
    ["with a time that never comes", "posts", { scheduled_at: "-infinity" }, /scheduled_at/],
    [
      "with a year that JavaScript does not know",
      "posts",
      { created_at: "294000-01-01T00:00:00Z" },
      /created_at/,
    ],
    [
      "with a number that overflows when it is counted up",
      "targets",
      { generation: 2_147_483_647 },
      /generation/,
    ],
    ["on an unknown platform", "targets", { platform: "constructor" }, /rows\/1/],
    ["with more targets than a post may have", "targets", { ordinal: 100 }, /ordinal/],
    ["that uses quota of a day that does not exist", "targets", { due_day: "soon" }, /due_day/],
    [
      "that uses quota of another day than that for which it is due",
      "targets",
      { due_day: "2026-11-21" },
      /due_day/,
    ],
    ["that no request to publish it has", "targets", { generation: 0 }, /generation/],
    [
      "that is being deleted without a request",
      "targets",
      { status: "deleting", deletion: 0, deletion_requested_at: AT },
      /status/,
    ],
    [
      "that is being deleted since no time",
      "targets",
      { status: "deleting", deletion: 1, deletion_requested_at: null },
      /status/,
    ],
    ["that is due without a deadline", "targets", { publish_before: null }, /status/],
    [
      "that has a deadline and is not due",
      "targets",
      { status: "publishing", due_at: null, due_day: null },
      /status/,
    ],
    ["that is due and uses quota of no day", "targets", { due_day: null }, /status/],
    ["that uses quota of a day and is not due", "targets", { due_at: null }, /status/],
    [
      "that is due further ahead than a post may be scheduled",
      "targets",
      { due_at: "2999-01-01T00:00:00+00:00", due_day: "2999-01-01" },
      /due_at/,
    ],
    [
      "that is due before any post was published",
      "targets",
      { due_at: "1960-01-01T00:00:00+00:00", due_day: "1960-01-01" },
      /due_at/,
    ],
    [
      "that was published in the last year that exists",
      "targets",
      { status: "published", published_at: "9999-12-31T23:59:59+00:00" },
      /published_at/,
    ],
    [
      "that is scheduled further ahead than a post may be",
      "posts",
      { scheduled_at: "2999-01-01T00:00:00+00:00" },
      /scheduled_at/,
    ],
    [
      "with a queue slot further ahead than that",
      "slot_assignments",
      { slot_at: new Date(Date.now() + 700 * 86_400_000).toISOString() },
      /slot_at/,
    ],
    ["with a period further ahead than that", "quota_usage", { period: "2999-01" }, /period/],
    [
      "with options for neither a platform nor an account",
      "posts",
      { options: { ["x".repeat(1_000)]: {} } },
      /options/,
    ],
    ["with more settings than any account has", "targets", { settings: { a: LONG } }, /settings/],
    ["with metrics of no time", "targets", { metrics: { refreshedAt: "soon" } }, /metrics/],
    ["with more content than a request may have", "posts", { content: LONG }, /content/],
    [
      "with more options than a request may have",
      "posts",
      { options: { x: { content: LONG } } },
      /options/,
    ],
    ["with a longer line than any row has", "posts", { content: LONG.repeat(9) }, /rows\/1/],
    ["with less used quota than none", "quota_usage", { used: -1 }, /used/],
    ["with a period that is not one", "quota_usage", { period: "2026-13" }, /period/],
    ["with a time of day that is not one", "queue_slot_rules", { times: ["25:00"] }, /timezone/],
    ["with an unknown time zone", "queue_slot_rules", { timezone: "Mars/Olympus" }, /timezone/],
    ["with options that cannot be read", "posts", { options: { x: { content: 1 } } }, /rows\/1/],
    ["with an object in place of its media", "posts", { media: {} }, /media/],
    [
      "with an object in place of a list of tags",
      "posts",
      { options: { x: { tags: {} } } },
      /options/,
    ],
    ["with media that cannot be read", "posts", { media: [{ bytes: "many" }] }, /rows\/1/],
    [
      "with media of another workspace",
      "posts",
      { media: [{ id: newId(), workspaceId: newId() }] },
      /rows\/1/,
    ],
  ];
  test.each(faults)("%s", async (_title, table, values, fault) => {
    await using given = await open();
    await given.prepare(one);
    await given.client.importRows({
      workspaceId: one,
      table: "posts",
      rows: [...(exported.posts ?? [])],
    });
    const before = await given.count();
    const [row] = exported[table] ?? [];
    const id = {
      ...(["quota_usage", "slot_assignments"].includes(table) ? {} : { id: newId() }),
      ...(table === "targets" ? { ordinal: 7 } : {}),
    };
    const rows = [changed(row, id), changed(row, { ...id, ...values })];
    const refused = given.client.importRows({ workspaceId: one, table, rows });
    await expect(refused.catch((error: unknown) => JSON.stringify(error))).resolves.toMatch(fault);
    expect(await given.count()).toBe(before);
  });
});

test("an import takes as much content and options as a request may have, whatever JSON escapes in it", async () => {
  await using given = await open();
  await given.prepare(one);
  const [content, own] = ["\n".repeat(200 * 1024), "\u0001".repeat(56 * 1024)];
  const rows = [changed(exported.posts?.[0], { content, options: { x: { content: own } } })];
  await given.client.importRows({ workspaceId: one, table: "posts", rows });
  expect(await given.sql`select from posts where content = ${content}`).toHaveLength(1);
});

test("what an import stores has no more digits of a number than were checked", async () => {
  await using given = await open();
  await given.prepare(one);
  await given.client.importRows({
    workspaceId: one,
    table: "posts",
    rows: [...(exported.posts ?? [])],
  });
  const row = changed(exported.targets?.[0], { settings: { ratio: "0.1" } });
  const rows = [row.replace('"0.1"', `0.1${"0".repeat(30)}1`)];
  await given.client.importRows({ workspaceId: one, table: "targets", rows });
  const [target] = await given.sql`select settings::text as settings from targets`;
  expect(target).toEqual({ settings: '{"ratio": 0.1}' });
});

test("an import stores no more queue slot rules than a workspace may have", async () => {
  await using given = await open();
  await given.prepare(one);
  const importRules = async (count: number, status = "active") => {
    const rows = Array.from({ length: count }, () =>
      changed(exported.queue_slot_rules?.[0], { id: newId(), status }),
    );
    await given.client.importRows({ workspaceId: one, table: "queue_slot_rules", rows });
  };
  await importRules(100);
  await importRules(1, "revoked");
  await expect(importRules(1)).rejects.toMatchObject({
    violations: [{ code: "too_many", path: "/rows", limit: 100, actual: 101 }],
  });
  expect(await given.sql`select from queue_slot_rules`).toHaveLength(101);
});

test("a row whose key belongs to another workspace is refused, and the other row stays as it is", async () => {
  await using given = await open();
  await given.prepare(one);
  await given.importAll(one, exported);
  const two = newId();
  await given.prepare(two);
  const forged = changed(exported.posts?.[0], {
    workspace_id: two,
    content: "forged",
    queue_slot_rule_id: null,
  });
  const refused = given.client.importRows({ workspaceId: two, table: "posts", rows: [forged] });
  await expect(refused).rejects.toThrow("row_exists");
  expect(
    await given.sql`select from posts where content = 'forged' or workspace_id = ${two}`,
  ).toHaveLength(0);
});

test("a target of a post that belongs to another workspace is left out", async () => {
  await using given = await open();
  await given.prepare(one);
  await given.importAll(one, exported);
  const two = newId();
  await given.prepare(two);
  const forged = changed(exported.targets?.[0], { workspace_id: two, id: newId(), ordinal: 1 });
  const request = { workspaceId: two, table: "targets", rows: [forged] };
  expect((await given.client.importRows(request)).leftOut).toBe(1);
  expect(await given.sql`select from targets where workspace_id = ${two}`).toHaveLength(0);
});

test.each([
  ["posts", "queue_slot_rule_id", "queue_slot_rules", { id: newId() }],
  ["slot_assignments", "rule_id", "queue_slot_rules", { slot_at: "2026-11-20T09:00:00+00:00" }],
  ["idempotency_keys", "post_id", "posts", { key: "other" }],
])(
  "a row of %s whose %s names a row of %s of another workspace is left out",
  async (table, column, referred, values) => {
    await using given = await open();
    await given.prepare(one);
    await given.importAll(one, exported);
    const [two, id] = [newId(), newId()];
    await given.prepare(two);
    const theirs = changed(exported[referred]?.[0], {
      ...(referred === "posts" ? { queue_slot_rule_id: null } : {}),
      id,
      workspace_id: two,
    });
    await given.client.importRows({ workspaceId: two, table: referred, rows: [theirs] });
    const rows = [changed(exported[table]?.[0], { ...values, [column]: id })];
    expect((await given.client.importRows({ workspaceId: one, table, rows })).leftOut).toBe(1);
  },
);

test("an import that stopped after any table continues with the same rows, and changes none that are there", async () => {
  await using given = await open();
  const tables = Object.keys(EXPORTED_TABLES);
  for (let done = 1; done <= tables.length; done += 1) {
    await given.prepare(one);
    const first = tables.slice(0, done).map((table) => [table, exported[table] ?? []]);
    await given.importAll(one, Object.fromEntries(first) as ExportedRows);
  }
  const changedRows = [changed(exported.posts?.[0], { content: "changed" })];
  await given.importAll(one, { posts: changedRows });
  await given.release(one);
  await given.release(one);
  const again = await exportRows(given.sql, EXPORTED_TABLES, one);
  expect(comparable(again)).toEqual(comparable(exported));
});

test("rows are refused before an import was prepared and after it was released", async () => {
  await using given = await open();
  await expect(given.importAll(one, exported)).rejects.toThrow("invalid_transition");
  await given.prepare(one);
  await given.importAll(one, exported);
  await given.release(one);
  await expect(given.importAll(one, exported)).rejects.toThrow("invalid_transition");
});

test("an imported workspace is not cut short by the mark of its earlier removal", async () => {
  await using given = await open();
  const isGone = async () => {
    const [row] = await given.sql<[{ isGone: boolean }]>`
      select ${isRemoved(given.sql, given.sql`${one}::uuid`)} as is_gone`;
    return row.isGone;
  };
  await given.sql.begin((tx) => recordRemoval(tx, one, { rows: 1 }));
  expect(await isGone()).toBe(true);
  await given.prepare(one);
  expect(await isGone()).toBe(false);
});

test("while the database's clock is behind the beginning of an import, its end is refused and not forgotten", async () => {
  await using given = await open();
  await given.prepare(one);
  await given.migrationSql`
    insert into audit_log (id, at, workspace_id, actor_kind, actor_id, action, subject_type, subject_id, details)
    select gen_random_uuid(), now() + interval '1 hour', workspace_id, actor_kind, actor_id, action, subject_type,
      subject_id, details
    from audit_log
    where action = 'workspace.import'`;

  await expect(given.release(one)).rejects.toMatchObject({ kind: "unavailable" });
  await expect(given.sql.begin((tx) => recordRemoval(tx, one, { rows: 1 }))).rejects.toMatchObject({
    kind: "unavailable",
  });
});
