import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Listening } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openOutside } from "./support/conformance/world.ts";
import { type Api, createApi } from "./support/requests/api.ts";
import { expectNoneLost, startLoad, tally } from "./support/requests/load.ts";
import { create, inMs, refusalOf, whenPost } from "./support/requests/posts.ts";
import { createKey, openTenant, type Tenant } from "./support/requests/tenant.ts";
import { startSystem, type System } from "./support/system/system.ts";
import { makeBelongings } from "./support/tenant-matrix/fixtures.ts";

let outside: Listening;
let system: System;
beforeAll(async () => {
  outside = await openOutside();
  system = await startSystem("postgres", {
    env: { OUTBOUND_ALLOW: outside.address, WEBHOOK_RETRY_SECONDS: "0.1" },
  });
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await outside[Symbol.asyncDispose]();
});

/** All tables but the audit log, with their columns. */
async function listTables() {
  return await system.sql<{ name: string; columns: string[] }[]>`
    select format('%I.%I', n.nspname, c.relname) as name, array_agg(a.attname::text) as columns
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where n.nspname in ('accounts', 'posts', 'media', 'delivery', 'bus')
    and c.relkind = 'r'
    and c.relname not in ('audit_log', 'audit_log_deeds')
    group by 1
    order by 1`;
}

const ID_COLUMNS =
  /^(id|(post|target|account|media|rule|run|subscription|delivery|event|backfill|api_key)_id)$/;

/** The ids of everything that the services store of a workspace, and the keys of its files. */
async function collectIds(workspaceId: string): Promise<readonly string[]> {
  const ids = new Set([workspaceId]);
  for (const { name, columns } of await listTables()) {
    if (!columns.includes("workspace_id")) continue;
    const wanted = columns.filter((column) => ID_COLUMNS.test(column) || column === "object_key");
    for (const column of wanted) {
      const rows = await system.sql.unsafe<{ value: string }[]>(
        `select distinct ${column}::text as value from ${name} where workspace_id = '${workspaceId}' and ${column} is not null`,
      );
      for (const { value } of rows)
        if (value.length > 30) ids.add(value.split("/").at(-1) ?? value);
    }
  }
  return [...ids];
}

/** The tables with a row in which one of the texts occurs; bytes are shown in hex. */
async function findTraces(texts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  const wanted = texts.flatMap((text) => [text, Buffer.from(text).toString("hex")]);
  for (const { name } of await listTables()) {
    const rows = await system.sql.unsafe<{ row: string }[]>(
      `select row_to_json(t)::text as row from ${name} as t where row_to_json(t)::text like any($1) limit 1`,
      [wanted.map((text) => `%${text}%`)] as never,
    );
    found.push(...rows.map(({ row }) => `${name}: ${row.slice(0, 300)}`));
  }
  return found;
}

/**
 * An export of a stopped workspace that continues one that was stopped: the last page of a table is
 * written again. A complete export is not.
 */
async function expectExported(
  workspaceId: string,
): Promise<{ readonly folder: string; readonly mediaFiles: number }> {
  const folder = join(dirname(system.local().logs), "..", `export-${workspaceId}`);
  const run = () =>
    system.operate<{ rows: number; mediaFiles: number; isStopped: boolean }>(
      "workspace",
      "export",
      workspaceId,
      "--to",
      folder,
    );
  const first = await run();
  expect(first.rows).toBeGreaterThan(20);
  expect(first.mediaFiles).toBeGreaterThan(1);
  expect(first.isStopped).toBe(true);
  await expect(run()).rejects.toThrow("already_exists");
  const manifest = join(folder, "manifest.json");
  rmSync(manifest);
  const path = join(folder, "progress.json");
  const progress = JSON.parse(readFileSync(path, "utf8")) as { files: Record<string, object> };
  progress.files["posts.posts.jsonl"] = { rows: 0, bytes: 0, after: "" };
  delete progress.files["posts.targets.jsonl"];
  writeFileSync(path, JSON.stringify(progress));
  expect(await run()).toEqual(first);
  const { files } = JSON.parse(readFileSync(manifest, "utf8")) as {
    files: Record<string, { rows: number; bytes: number; sha256: string }>;
  };
  for (const [name, { bytes, sha256 }] of Object.entries(files)) {
    const content = readFileSync(join(folder, name));
    expect([name, content.length]).toEqual([name, bytes]);
    expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
  }
  expect(files["posts.posts.jsonl"]?.rows).toBeGreaterThan(4);
  return { folder, mediaFiles: first.mediaFiles };
}

async function stopWorkspace(id: string): Promise<void> {
  await system.operate("workspace", "delete", id);
  await eventually(async () => {
    const rows = await system.sql`
      select
      from delivery.pauses
      join accounts.workspaces w on w.id::text = key
      where kind = 'deletion'
      and key = ${id}
      and w.deletion_requested_at < now() - interval '3 seconds'`;
    return rows.length === 1;
  });
}

/** Connects the account before anything is sent. Returns an API with a new key. */
async function importAgain(tenant: Tenant, folder: string, accountId: string): Promise<Api> {
  const run = (option: readonly string[]) =>
    system.operate<{ exists?: boolean; isCopy?: boolean; isHeld?: boolean; leftOut?: number }>(
      "workspace",
      "import",
      folder,
      ...option,
    );
  expect(await run(["--dry-run"])).toMatchObject({ exists: false });
  expect(await run(["--hold"])).toMatchObject({ isHeld: true, isCopy: false });
  const [account] = await system.sql<{ username: string; status: string }[]>`
    select username, status from accounts.accounts where id = ${accountId}`;
  expect(account?.status).toBe("reconnect_required");
  expect(await tenant.connect("bluesky", account?.username)).toBe(accountId);
  expect(await run([])).toMatchObject({ isHeld: false, isCopy: false });
  rmSync(folder, { recursive: true });
  await system.sql`update delivery.pauses set created_at = now() - interval '2 minutes' where key = ${tenant.id}`;
  return createApi(system.local().baseUrl, await createKey(system, tenant.id, "all"));
}

function listFiles(): readonly string[] {
  const folder = dirname(system.local().logs);
  return readdirSync(folder, { recursive: true, encoding: "utf8" });
}

test("a deleted workspace that used every feature leaves no trace of its ids in any schema, its files are deleted and its scheduled post is not sent, while another workspace publishes each of its posts once; imported from its export, it has its posts and files again and sends the scheduled post once", async () => {
  const receiverUrl = `http://${outside.address}/failing`;
  const [theirs, ours] = [await openTenant(system), await openTenant(system)];
  const gone = await makeBelongings(system, theirs, { mark: "theirs", receiverUrl });
  const kept = await makeBelongings(system, ours, { mark: "ours", receiverUrl });
  const accounts = await ours.connectAll("x", 4);
  const account = await theirs.connect("bluesky");
  const later = {
    content: "sent after the import",
    accountIds: [account],
    scheduledAt: inMs(8_000),
  };
  const scheduled = await create(theirs.api, later);
  await stopWorkspace(theirs.id);
  const ids = await collectIds(theirs.id);
  expect(ids.length).toBeGreaterThan(45);
  const files = listFiles().filter((file) => ids.some((id) => file.includes(id)));
  expect(files.length).toBeGreaterThan(1);
  const { folder, mediaFiles } = await expectExported(theirs.id);
  const load = startLoad({ api: ours.api, perSecond: 5, accountIds: accounts, label: "load" });

  await system.operate("workspace", "delete", theirs.id, "--now", "--confirm", "Tenant");
  await eventually(
    async () => refusalOf(await theirs.api.call("GET", "/posts")) === "401 unauthenticated",
  );
  const removed = await eventually(async () => {
    const shown = await system.operate<{ status: string; removedRows: Record<string, number> }>(
      "workspace",
      "show",
      theirs.id,
    );
    return shown.status === "removed" && shown;
  });

  expect(removed.removedRows.posts).toBeGreaterThan(4);
  expect(removed.removedRows.delivery).toBeGreaterThan(20);
  expect(await findTraces(ids)).toEqual([]);
  expect(listFiles().filter((file) => ids.some((id) => file.includes(id)))).toEqual([]);
  const visible = await system.simulator.visible();
  expect(visible.filter(({ text }) => text === later.content)).toEqual([]);
  const report = await load.stop();
  const { posts } = report;
  expectNoneLost(report);
  // A machine with much other work may be too slow for the load, and then says so.
  const wrong = report.samples.filter(({ status }) => ![200, 202, 429, 503].includes(status));
  expect(tally(wrong)).toEqual({});
  for (const { id } of posts) await whenPost(ours.api, id, "published");
  const sent = (await system.simulator.visible()).filter(({ text }) => text.startsWith("load "));
  expect(sent.length).toBeGreaterThanOrEqual(posts.length);
  expect(new Set(sent.map(({ text }) => text)).size).toBe(sent.length);
  for (const id of Object.values(kept.posts).filter((each) => each !== kept.posts.draft))
    expect((await ours.api.call("GET", `/posts/${id}`)).status).toBe(200);
  for (const id of Object.values(kept.webhooks).slice(0, 2))
    expect((await ours.api.call("GET", `/webhooks/${id}/deliveries`)).status).toBe(200);

  const api = await importAgain(theirs, folder, account);
  await whenPost(api, scheduled.id, "published");
  expect(await theirs.countVisible(later.content)).toBe(1);
  for (const status of ["draft", "scheduled", "published", "failed"] as const)
    expect((await api.call("GET", `/posts/${gone.posts[status]}`)).body).toMatchObject({ status });
  const [stored] = await system.sql`
    select (select count(*)::int from media.media where workspace_id = ${theirs.id} and status = 'ready') as files,
      (select count(*)::int from delivery.webhook_subscriptions where workspace_id = ${theirs.id} and status = 'paused') > 0 as are_paused,
      exists (select from delivery.webhook_subscriptions where workspace_id = ${theirs.id} and status = 'active') as are_active`;
  expect(stored).toEqual({ files: mediaFiles, are_paused: true, are_active: false });
});

test("a workspace whose deletion is withdrawn sends what was due meanwhile, once", async () => {
  const tenant = await openTenant(system);
  const account = await tenant.connect("bluesky");
  const { id } = await create(tenant.api, {
    content: "late but sent",
    accountIds: [account],
    scheduledAt: inMs(12_000),
  });
  await system.operate("workspace", "delete", tenant.id);
  await eventually(async () => {
    const rows =
      await system.sql`select from delivery.publish_tasks where workspace_id = ${tenant.id}`;
    return rows.length === 1;
  });
  await eventually(async () => {
    const rows =
      await system.sql`select from delivery.pauses where kind = 'deletion' and key = ${tenant.id}`;
    return rows.length === 1;
  });
  expect(await tenant.countVisible("late but sent")).toBe(0);
  await system.operate("workspace", "delete", tenant.id, "--cancel");
  await system.sql`update delivery.pauses set created_at = now() - interval '2 minutes' where key = ${tenant.id}`;
  await eventually(async () => (await tenant.api.call("GET", "/posts")).status === 200);
  await whenPost(tenant.api, id, "published");
  expect(await tenant.countVisible("late but sent")).toBe(1);
});
