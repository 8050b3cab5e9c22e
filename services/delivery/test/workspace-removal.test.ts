import { newId } from "@postrider/shared/ids";
import { readClock } from "@postrider/shared/postgres/clock";
import { eventually } from "@postrider/shared/testing/poll";
import {
  countRowsWith,
  expectRemoved,
  fillTwoWorkspaces,
  removeWorkspace,
  stopped,
} from "@postrider/shared/testing/workspace-removal";
import { recordImport } from "@postrider/shared/workspaces/import-state";
import { expect, test } from "vitest";
import { stopWorkspaces } from "#src/publishing/db/workspace-removal.ts";
import { deliveryRemoval } from "#src/publishing/jobs/remove-workspaces.ts";
import {
  consume,
  insertPublished,
  openDatabase,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  untilStatus,
  openStage,
} from "./publishing/fixture.ts";
import { openTargetRun } from "./publishing/run-target.ts";
import {
  countByStatus,
  insertDeliveries,
  insertSubscription,
  openWebhookDatabase,
  startReceiver,
  startTestDispatcher,
} from "./webhooks/dispatcher/fixture.ts";

test("the removal of a workspace leaves no row of it in any table of delivery, and every row of another workspace", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const ids = await fillTwoWorkspaces(database);
  // Every row of the test has the same id, so all calls are of the workspace; their outcome is
  // known.
  for (const table of ["publish_tasks", "comment_actions"])
    await sql`update ${sql(table)} set status = 'failed' ${table === "comment_actions" ? sql`, finished_at = now()` : sql``}`;
  await sql`update deletion_tasks set status = 'failed'`;
  await sql`update webhook_leases set lease_until = '-infinity'`;
  await stopWorkspaces(sql, [stopped(ids.removed)]);
  await sql`insert into pauses (kind, key) values ('workspace', ${ids.removed}), ('account', ${ids.removed}), ('account', ${ids.kept})`;
  const before = await countRowsWith(database.migrationSql, ids.kept);
  expect(Object.keys(before).length).toBeGreaterThan(25);

  const reports = await removeWorkspace(sql, ids.removed, deliveryRemoval(sql));

  await expectRemoved(database.migrationSql, ids, before);
  expect(reports.at(-1)?.isDone).toBe(true);
});

test("the removal of an import that was never released does not wait for calls that only the other installation made", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const ids = await fillTwoWorkspaces(database);
  await sql`update publish_tasks set status = 'unknown', wake_at = now() + interval '400 days'`;
  const { prepare } = deliveryRemoval(sql);
  expect(await prepare?.(stopped(ids.removed))).toBe(false);
  await sql.begin((tx) => recordImport(tx, ids.removed, "workspace.import"));
  expect(await prepare?.(stopped(ids.removed))).toBe(true);
});

test("the removal of a workspace deletes its webhook history in all partitions, and that of no other workspace", async () => {
  await using database = await openWebhookDatabase();
  const { sql } = database;
  const url = "https://example.test/hook";
  const [removed, kept] = [
    await insertSubscription(sql, { url }),
    await insertSubscription(sql, { url }),
  ];
  await insertDeliveries(sql, removed, 300);
  await insertDeliveries(sql, kept, 3);
  const before = await countRowsWith(sql, kept.workspaceId);

  await removeWorkspace(sql, removed.workspaceId, deliveryRemoval(sql));

  expect(await countRowsWith(sql, removed.id)).toEqual({});
  await expectRemoved(sql, { removed: removed.workspaceId, kept: kept.workspaceId }, before);
});

test("a target of a stopped workspace is not sent, also if a worker has claimed it already, and is sent when the deletion is withdrawn", async () => {
  await using run = await openTargetRun();
  const { database, sql, world, target } = run;
  const claimed = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  world.prepare = [
    {
      name: "wait",
      isDone: (handles) => handles.waited !== undefined,
      run: async () => {
        claimed.resolve();
        await goOn.promise;
        return { waited: "yes" };
      },
    },
  ];
  await using _worker = startWorker(database, world, { settings: { leaseMs: 5_000 } });
  await request(sql, target);
  await claimed.promise;
  await stopWorkspaces(sql, [stopped(target.workspaceId)]);
  goOn.resolve();
  await untilStatus(sql, target, "queued");
  expect(world.calls).toEqual([]);

  await sql`update pauses set created_at = now() - interval '1 second'`;
  await stopWorkspaces(sql, [], await readClock(sql));
  await untilStatus(sql, target, "published");
  expect(world.calls).toHaveLength(1);
});

test("a list that was asked for before a workspace was stopped does not end the stop, however late it arrives", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const id = newId();
  await stopWorkspaces(sql, [stopped(id)]);
  await sql`update pauses set created_at = now() - interval '1 hour'`;
  const askedAt = new Date((await readClock(sql)).getTime() - 2 * 3_600_000);

  await stopWorkspaces(sql, [], askedAt);

  expect(await sql`select kind, key from pauses`).toEqual([{ kind: "deletion", key: id }]);
});

test("the removal of a workspace waits until the outcome of each of its calls is known", async () => {
  await using run = await openTargetRun();
  const { sql, target } = run;
  await request(sql, target);
  await sql`update publish_tasks set status = 'unknown', wake_at = now() + interval '1 hour'`;
  const removal = deliveryRemoval(sql);
  const options = { steps: 30 };
  expect(await removeWorkspace(sql, target.workspaceId, removal, options)).toEqual([]);
  expect(await readTask(sql, target)).toMatchObject({ status: "unknown" });
  await sql`update publish_tasks set status = 'failed'`;
  const reports = await removeWorkspace(sql, target.workspaceId, removal);
  expect(reports.at(-1)).toEqual({ rows: 2, isDone: true });
});

test("the removal of a workspace waits for a requested deletion of a post that is tried again later, except in an import", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const { removed } = await fillTwoWorkspaces(database);
  for (const table of ["publish_tasks", "comment_actions", "webhook_leases"])
    await sql`delete from ${sql(table)}`;
  await sql`update deletion_tasks set status = 'queued', wake_at = now() + interval '1 hour'`;
  const { prepare } = deliveryRemoval(sql);
  expect(await prepare?.(stopped(removed))).toBe(false);
  await sql`update deletion_tasks set status = 'failed'`;
  expect(await prepare?.(stopped(removed))).toBe(true);
});

test("a late event of a removed workspace creates no row", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [removed, kept] = [world.addTarget(), world.addTarget()];
  await insertPublished(sql, [{ target: removed, externalId: "x1" }]);
  await removeWorkspace(sql, removed.workspaceId, deliveryRemoval(sql));

  await request(sql, removed, kept);
  await consume(sql, [toDeletionRecord(removed, "x1")]);

  expect(await countRowsWith(sql, removed.workspaceId)).toEqual({});
  expect(await readTask(sql, kept)).toMatchObject({ status: "queued" });
});

test("the removal takes the pauses and the breaker of the workspace's accounts with it", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const id = newId();
  await sql`insert into pauses (kind, key) values ('account', ${id}), ('workspace', ${id}), ('platform', 'x')`;
  await sql`insert into platform_breakers (platform, unknowns_in_row, account_id) values ('x', 1, ${id})`;
  expect(await deliveryRemoval(sql).prepare?.(stopped(id))).toBe(true);
  expect(await countRowsWith(sql, id)).toEqual({});
  expect(await sql`select kind, key from pauses`).toEqual([{ kind: "platform", key: "x" }]);
});

test("no webhook is sent for a stopped workspace, and those of another one are", async () => {
  await using database = await openWebhookDatabase();
  const { sql } = database;
  await using receiver = await startReceiver();
  const input = { url: receiver.url };
  const one = await insertSubscription(sql, input);
  const other = await insertSubscription(sql, input);
  await stopWorkspaces(sql, [stopped(one.workspaceId)]);
  await insertDeliveries(sql, one, 2);
  await insertDeliveries(sql, other, 2);
  await using _dispatcher = startTestDispatcher(sql);
  await eventually(async () => (await countByStatus(sql, other.id)).succeeded === 2);
  expect(await countByStatus(sql, one.id)).toMatchObject({ pending: 2 });
  expect(receiver.received).toHaveLength(2);
});
