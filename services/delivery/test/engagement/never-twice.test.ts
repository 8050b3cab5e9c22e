import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { exportRows, openImport } from "@postrider/shared/testing/workspace-import";
import { afterAll, beforeEach, expect, test } from "vitest";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { releaseImportedEngagement } from "#src/engagement/db/workspace-import.ts";
import { markRestored } from "#src/publishing/db/deployment.ts";
import { openDatabase } from "../publishing/fixture.ts";
import { readSeries } from "../publishing/metric-values.ts";
import {
  addRule,
  type CommentWorld,
  emptyWorld,
  readActions,
  request,
  requestPrivateReply,
  startActionWorker,
  untilAllEnded,
  untilStatus,
} from "./fixture.ts";

let world: CommentWorld;

const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  world = await emptyWorld(database);
});

const sql = () => database.sql;

test("of two replies to one comment that a search of the platform cannot tell apart, only one has an open call at a time", async () => {
  const account = world.addAccount();
  const finish = world.holdReply();
  const ids = [await request(sql(), account), await request(sql(), account)];
  await using _one = startActionWorker(database, world, { settings: { visibleCallMs: 5_000 } });
  await using _two = startActionWorker(database, world, { settings: { visibleCallMs: 5_000 } });
  // Both replies are claimed together; only one of them can record that its call begins, and the
  // other has to wait.
  await eventually(async () => {
    const [row] = await sql()<{ claims: number }[]>`
      select min(fence)::int as claims
      from comment_actions`;
    return (row?.claims ?? 0) >= 1 && world.calls.length === 1;
  });
  await eventually(async () => {
    const actions = await readActions(sql());
    return actions.filter(({ status }) => status === "queued").length === 1;
  });

  expect(world.calls).toHaveLength(1);
  finish();
  const actions = await untilAllEnded(sql());
  expect(actions.map(({ id, status }) => ({ id, status }))).toEqual(
    ids.map((id) => ({ id, status: "succeeded" })),
  );
  expect(world.visible).toHaveLength(2);
});

test("a comment action that failed with an unknown outcome succeeds when the platform's success is reported later", async () => {
  const account = world.addAccount();
  const answer = world.holdReply();
  world.verdicts = [() => ({ kind: "cannot_tell", message: "no list" })];
  const id = await request(sql(), account);
  await using _worker = startActionWorker(database, world, { settings: { visibleCallMs: 100 } });
  await untilStatus(sql(), id, "failed");
  answer();

  await untilStatus(sql(), id, "succeeded");

  const events = await sql()<{ type: string }[]>`
    select type
    from outbox`;
  expect(events).toHaveLength(2);
});

/** A connection pool whose transactions fail while the simulated outage lasts. */
function failing(pool: Sql, isOut: () => boolean): Sql {
  return new Proxy(pool, {
    get(target, name, receiver) {
      if (name !== "begin" || !isOut()) return Reflect.get(target, name, receiver) as unknown;
      return () =>
        Promise.reject(Object.assign(new Error("closed"), { code: "CONNECTION_CLOSED" }));
    },
  });
}

test("the outcome of a platform call is recorded once the database is available again", async () => {
  const account = world.addAccount();
  let isOut = false;
  world.reactions = [
    (make) => {
      isOut = true;
      return { kind: "published", externalId: make(), permalink: null };
    },
  ];
  const id = await request(sql(), account);
  await using _worker = startActionWorker(database, world, {
    settings: { visibleCallMs: 30_000 },
    wrapSql: (pool) => failing(pool, () => isOut),
  });
  await eventually(() => isOut);
  expect((await readActions(sql()))[0]).toMatchObject({ id, status: "calling" });
  isOut = false;

  expect(await untilAllEnded(sql())).toMatchObject([{ status: "succeeded", externalId: "made-1" }]);
  expect(world.calls).toHaveLength(1);
});

test("a comment action ends even if the database refuses the platform's message", async () => {
  const account = world.addAccount();
  world.reactions = [
    () => ({ kind: "refused", code: "content_rejected", message: "bad \0 character" }),
  ];
  await request(sql(), account);
  await using _worker = startActionWorker(database, world);

  expect(await untilAllEnded(sql())).toMatchObject([
    { status: "failed", errorCode: "content_rejected", callNumber: 1 },
  ]);
});

test("after a restore from a backup, the platform is searched for a reply before it is sent, even if it was requested shortly after the restore", async () => {
  const account = world.addAccount();
  const sent = await request(sql(), account, { commentId: "comment-1" });
  await markRestored(sql());
  const repeated = await request(sql(), account, { commentId: "comment-2" });
  // The backup lacks the call that made this reply visible.
  world.make("comment-1");
  await using _worker = startActionWorker(database, world, { settings: { visibleCallMs: 200 } });

  const actions = await untilAllEnded(sql());

  expect(actions).toMatchObject([
    { id: sent, status: "succeeded", externalId: "made-1" },
    { id: repeated, status: "succeeded" },
  ]);
  expect(world.calls.map(({ commentId }) => commentId)).toEqual(["comment-2"]);
  expect(world.looks).toHaveLength(2);
});

test("a reply that a restore made uncertain is searched for before it is sent also after the import of its workspace", async () => {
  await using source = await openDatabase();
  await using target = await openDatabase();
  const account = world.addAccount();
  await request(source.sql, account, { commentId: "comment-1" });
  await markRestored(source.sql);
  const { workspaceId } = account;
  const given = openImport({
    sql: target.sql,
    tables: EXPORTED_TABLES,
    release: (id, isCopy) => releaseImportedEngagement(target.sql, id, isCopy),
  });
  await given.prepare(workspaceId);
  const exported = await exportRows(source.sql, EXPORTED_TABLES, workspaceId);
  await given.importAll(workspaceId, exported);
  await given.release(workspaceId);
  world.make("comment-1");
  await using _worker = startActionWorker(target, world, { settings: { visibleCallMs: 200 } });

  const [reply] = await untilAllEnded(target.sql);
  expect(reply).toMatchObject({ status: "succeeded", externalId: "made-1" });
  expect(world.calls).toHaveLength(0);
});

test("after a restore from a backup, an earlier request to hide a comment is not carried out, because a later request may be lost", async () => {
  const account = world.addAccount();
  const hide = await request(sql(), account, { type: "hide" });
  await markRestored(sql());
  const unhide = await request(sql(), account, { type: "unhide", commentId: "comment-2" });
  await using _worker = startActionWorker(database, world, { settings: { visibleCallMs: 200 } });

  expect(await untilAllEnded(sql())).toMatchObject([
    { id: hide, status: "failed", errorCode: "outcome_unknown" },
    { id: unhide, status: "succeeded" },
  ]);
  expect(world.calls.map(({ kind }) => kind)).toEqual(["unhide"]);
  const events = await sql()<{ action: string }[]>`
    select payload::jsonb ->> 'actionId' as action from outbox`;
  expect(events.map(({ action }) => action).toSorted()).toEqual([hide, unhide]);
});

test("the id of a second reply for a comment action that has succeeded is stored, without a second event", async () => {
  const account = world.addAccount();
  const answer = world.holdReply();
  world.verdicts = [() => ({ kind: "present", externalId: "another-reply", permalink: null })];
  const series = 'delivery_comment_actions_total{type="reply",status="succeeded",code=""}';
  const duplicates = 'delivery_comment_action_duplicates_total{type="reply"}';
  const before = await readSeries();
  const id = await request(sql(), account);
  await using worker = startActionWorker(database, world, { settings: { visibleCallMs: 100 } });
  await untilStatus(sql(), id, "succeeded");
  answer();
  await eventually(async () => {
    const [row] = await sql()<{ furtherIds: readonly string[] }[]>`
      select to_json(further_ids) as further_ids from comment_actions`;
    return row?.furtherIds.length === 1;
  });
  await worker[Symbol.asyncDispose]();

  expect(await sql()`select type from outbox`).toHaveLength(1);
  const after = await readSeries();
  expect(after(series) - before(series)).toBe(1);
  expect(after(duplicates) - before(duplicates)).toBe(1);
});

test("a private reply whose rule was paused before its call is not sent", async () => {
  const account = world.addAccount();
  const ruleId = await addRule(sql(), account);
  await requestPrivateReply(sql(), account, { ruleId });
  await sql()`update automation_rules set status = 'paused' where id = ${ruleId}`;
  await using _worker = startActionWorker(database, world);

  expect(await untilAllEnded(sql())).toMatchObject([
    { status: "failed", errorCode: "rule_inactive", callNumber: 0 },
  ]);
  expect(world.calls).toEqual([]);
});

test("a comment action whose process crashed five times in a row fails", async () => {
  const account = world.addAccount();
  const id = await request(sql(), account);
  await sql()`update comment_actions set crash_count = 5 where id = ${id}`;
  await using _worker = startActionWorker(database, world);

  expect(await untilAllEnded(sql())).toMatchObject([
    { status: "failed", errorCode: "internal_error", callNumber: 0 },
  ]);
});

test("comment actions wait while the accounts service does not answer", async () => {
  const account = world.addAccount();
  world.isAccountsUp = false;
  const id = await request(sql(), account);
  await using worker = startActionWorker(database, world);
  await eventually(async () => {
    const [row] = await sql()<{ fence: number }[]>`
      select fence::int as fence
      from comment_actions
      where id = ${id}`;
    return (row?.fence ?? 0) > 0;
  });
  world.isAccountsUp = true;
  worker.claims.nudge();

  expect(await untilAllEnded(sql())).toMatchObject([{ status: "succeeded", callNumber: 1 }]);
});

test("a worker that stops waits for its open call and records the outcome", async () => {
  const account = world.addAccount();
  const answer = world.holdReply();
  const id = await request(sql(), account);
  const worker = startActionWorker(database, world, { settings: { visibleCallMs: 10_000 } });
  await eventually(() => world.calls.length === 1);
  const stopped = worker[Symbol.asyncDispose]();
  answer();
  await stopped;

  expect(await readActions(sql())).toMatchObject([{ id, status: "succeeded" }]);
});
