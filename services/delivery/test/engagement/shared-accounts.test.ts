import { eventually } from "@postrider/shared/testing/poll";
import { exportRows, openImport } from "@postrider/shared/testing/workspace-import";
import { afterAll, beforeEach, expect, test } from "vitest";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { releaseImportedEngagement } from "#src/engagement/db/workspace-import.ts";
import { markRestored } from "#src/publishing/db/deployment.ts";
import { stopImport } from "#src/publishing/db/workspace-import.ts";
import { openDatabase } from "../publishing/fixture.ts";
import {
  type CommentWorld,
  emptyWorld,
  readActions,
  request,
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
const EXTERNAL = { externalId: "one-account-of-the-platform" };
const settings = { visibleCallMs: 250 };

test.each([
  ["has a recorded account of the platform", false],
  ["has no recorded account of the platform", true],
])(
  "a reply whose call was lost does not adopt the reply of another workspace on the same account of the platform, which %s",
  async (_title, isOld) => {
    const [first, second] = [world.addAccount(EXTERNAL), world.addAccount(EXTERNAL)];
    await using _worker = startActionWorker(database, world, { settings });
    const theirs = await request(sql(), first);
    await untilStatus(sql(), theirs, "succeeded");
    if (isOld) await sql()`update comment_actions set external_account_id = null`;
    world.reactions = [() => ({ kind: "unknown", message: "timeout" })];
    await request(sql(), second);
    const actions = await untilAllEnded(sql());
    expect(actions.map(({ externalId }) => externalId)).toEqual(["made-1", "made-2"]);
    expect(world.calls).toHaveLength(3);
  },
);

test.each([
  ["may still be sent", "external_id", false],
  ["is not sent any longer", "external_id", true],
  ["may still be sent and has it as a further one", "further_ids", false],
])(
  "a reply whose call was lost is found although an export names it for an action that %s",
  async (_title, column, isCopy) => {
    await using source = await openDatabase();
    const forger = world.addAccount();
    await request(source.sql, forger);
    const named = column === "external_id" ? "made-1" : ["made-1"];
    await source.sql`update comment_actions set ${source.sql({ [column]: named })}`;
    const rows = await exportRows(source.sql, EXPORTED_TABLES, forger.workspaceId);
    const given = openImport({
      sql: sql(),
      tables: EXPORTED_TABLES,
      prepare: stopImport,
      release: (workspaceId, asCopy) => releaseImportedEngagement(sql(), workspaceId, asCopy),
    });
    await given.prepare(forger.workspaceId);
    await given.importAll(forger.workspaceId, rows);
    await given.release(forger.workspaceId, isCopy);

    await using _worker = startActionWorker(database, world, { settings });
    world.reactions = [(make) => (make(), { kind: "unknown", message: "timeout" })];
    const reply = await request(sql(), world.addAccount(EXTERNAL));
    await untilStatus(sql(), reply, "succeeded");
    expect(world.calls).toHaveLength(1);
  },
);

test("two workspaces never have an open call for the same reply to the same comment on the same account of the platform", async () => {
  const [first, second] = [world.addAccount(EXTERNAL), world.addAccount(EXTERNAL)];
  const answer = world.holdReply();
  await using _worker = startActionWorker(database, world, { settings: { visibleCallMs: 5_000 } });
  await request(sql(), first);
  await eventually(() => world.calls.length === 1);
  const waiting = await request(sql(), second);
  await eventually(async () => {
    const [row] = await sql()`
      select
      from comment_actions
      where id = ${waiting}
      and fence > 0
      and status = 'queued'`;
    return row !== undefined;
  });
  expect(world.calls).toHaveLength(1);
  answer();
  expect(await untilAllEnded(sql())).toMatchObject([
    { externalId: "made-1" },
    { externalId: "made-2" },
  ]);
});

test("a reply rests while the outcome of an equal one of another workspace on the same account of the platform is not known", async () => {
  const [first, second] = [world.addAccount(EXTERNAL), world.addAccount(EXTERNAL)];
  const open = await request(sql(), first);
  await sql()`
    update comment_actions
    set status = 'unknown', open_unknowns = 1, first_unknown_at = now(), wake_at = now() + interval '1 hour',
      external_account_id = ${EXTERNAL.externalId}`;
  const waiting = await request(sql(), second);
  await using _worker = startActionWorker(database, world, { settings });
  await eventually(async () => {
    const rows = await sql()`
      select from comment_actions
      where id = ${waiting}
      and status = 'queued'
      and wake_at > now() + interval '1 minute'`;
    expect(rows).toHaveLength(1);
  });
  await sql()`update comment_actions set wake_at = now() where id = ${open}`;
  await sql()`update comment_action_queues set wake_at = now()`;
});

test("a restore makes equal replies of two workspaces on one account of the platform uncertain, and neither adopts the other's reply", async () => {
  const [first, second] = [world.addAccount(EXTERNAL), world.addAccount(EXTERNAL)];
  await request(sql(), first);
  await request(sql(), second);
  await sql()`update comment_actions set external_account_id = ${EXTERNAL.externalId}`;
  await markRestored(sql());
  world.make("comment-1");
  world.make("comment-1");
  await using _worker = startActionWorker(database, world, { settings });
  const ids = (await untilAllEnded(sql())).map(({ externalId }) => externalId);
  expect(new Set(ids)).toEqual(new Set(["made-1", "made-2"]));
  expect(world.calls).toEqual([]);
});

test("an action that shows a comment waits while an unanswered call of another workspace that hides it can still arrive at the platform", async () => {
  const [first, second] = [world.addAccount(EXTERNAL), world.addAccount(EXTERNAL)];
  world.reactions = [() => ({ kind: "unknown", message: "timeout" })];
  await using _worker = startActionWorker(database, world, { settings: { visibleCallMs: 1_000 } });
  const hide = await request(sql(), first, { type: "hide" });
  await eventually(() => world.calls.length === 1);
  const unhide = await request(sql(), second, { type: "unhide" });
  await untilStatus(sql(), unhide, "succeeded");
  // The other one, whose outcome is not known, is not called again after this one.
  await untilAllEnded(sql());
  const times = await sql()<{ calledAt: Date; callUntil: Date }[]>`
    select called_at, call_until
    from comment_actions
    where id in (${hide}, ${unhide})
    order by created_at`;
  expect(times[1]?.calledAt.getTime()).toBeGreaterThanOrEqual(
    times[0]?.callUntil.getTime() ?? Infinity,
  );
  expect((await readActions(sql())).length).toBe(2);
});

test("an action that hides a comment ends without a call after a later one of another workspace has shown the comment", async () => {
  const [first, second] = [world.addAccount(EXTERNAL), world.addAccount(EXTERNAL)];
  const hide = await request(sql(), first, { type: "hide" });
  await sql()`update comment_actions set wake_at = now() + interval '1 hour' where id = ${hide}`;
  await using _worker = startActionWorker(database, world, { settings });
  const unhide = await request(sql(), second, { type: "unhide" });
  await untilStatus(sql(), unhide, "succeeded");
  await sql()`update comment_actions set wake_at = now() where id = ${hide}`;
  await sql()`update comment_action_queues set wake_at = now()`;
  await untilStatus(sql(), hide, "failed");
  expect(world.calls).toHaveLength(1);
});

test.each([
  ["was refused", "succeeded", { kind: "refused", code: "permission_missing", message: "no" }],
  ["got no answer", "failed", { kind: "unknown", message: "timeout" }],
] as const)(
  "an action that hides a comment and that waited while a later one of another workspace %s ends as %s",
  async (_title, status, answer) => {
    const [first, second] = [world.addAccount(EXTERNAL), world.addAccount(EXTERNAL)];
    world.reactions = [...Array.from({ length: 4 }, () => () => answer), () => ({ kind: "done" })];
    const hide = await request(sql(), first, { type: "hide" });
    await sql()`update comment_actions set wake_at = now() + interval '1 hour' where id = ${hide}`;
    await using _worker = startActionWorker(database, world, { settings });
    const unhide = await request(sql(), second, { type: "unhide" });
    await untilStatus(sql(), unhide, "failed");
    world.reactions = [];
    await sql()`update comment_actions set wake_at = now() where id = ${hide}`;
    await sql()`update comment_action_queues set wake_at = now()`;
    await untilStatus(sql(), hide, status);
  },
);

test("an action that hides a comment waits for the answer to the call of a later one of another workspace", async () => {
  const [first, second] = [world.addAccount(EXTERNAL), world.addAccount(EXTERNAL)];
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  world.reactions = [
    async () => {
      await answered;
      return { kind: "refused", code: "permission_missing", message: "no" };
    },
  ];
  const hide = await request(sql(), first, { type: "hide" });
  await sql()`update comment_actions set wake_at = now() + interval '1 hour' where id = ${hide}`;
  await using _worker = startActionWorker(database, world, { settings: { visibleCallMs: 5_000 } });
  const unhide = await request(sql(), second, { type: "unhide" });
  await eventually(() => world.calls.length === 1);
  await sql()`update comment_actions set wake_at = now() where id = ${hide}`;
  await sql()`update comment_action_queues set wake_at = now()`;
  await eventually(async () => {
    // The refused mark notes the account of the platform, and the action rests.
    const [row] = await sql()<{ isRefused: boolean }[]>`
      select external_account_id is not null and status = 'queued' as is_refused
      from comment_actions
      where id = ${hide}`;
    return row?.isRefused ?? false;
  });
  expect(world.calls).toHaveLength(1);
  answer();
  await untilStatus(sql(), unhide, "failed");
  await untilStatus(sql(), hide, "succeeded");
});
