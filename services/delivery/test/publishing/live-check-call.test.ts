import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { beginLiveCall, insertLiveCheck } from "#src/publishing/db/live-checks.ts";
import { openDatabase, readTask, request, startWorker, untilStatus, World } from "./fixture.ts";

async function openCheck() {
  const database = await openDatabase();
  const { sql } = database;
  const world = new World();
  const target = world.addTarget();
  const { workspaceId, accountId } = target;
  const check = { id: newId(), workspaceId, accountId, platform: "x", text: "check" } as const;
  const held = await insertLiveCheck(sql, { ...check, mediaId: undefined }, 60_000);
  if (held === undefined) throw new Error("not recorded");
  const begin = () => sql.begin((tx) => beginLiveCall(tx, { ...check, ...held }, 60_000));
  return {
    database,
    sql,
    world,
    target,
    begin,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

test("no target of an account is published while the publishing call of a live check of the account is open", async () => {
  await using stage = await openCheck();
  const { database, sql, world, target, begin } = stage;
  expect(await begin()).toBeInstanceOf(Date);
  const other = world.addTarget();
  await using _worker = startWorker(database, world);
  await request(sql, target, other);
  await untilStatus(sql, other, "published");
  expect(await readTask(sql, target)).toMatchObject({ status: "queued", fence: 0 });
  await sql`update live_checks set call_until = now()`;
  await untilStatus(sql, target, "published");
});

test("the publishing call of a live check does not begin while a target of its account is being published", async () => {
  await using stage = await openCheck();
  const { database, sql, world, target, begin } = stage;
  const gate = Promise.withResolvers<void>();
  world.reactions = [
    async (_call, _guard, make) => {
      await gate.promise;
      return make();
    },
  ];
  await using _worker = startWorker(database, world, { settings: { visibleCallMs: 60_000 } });
  await request(sql, target);
  await eventually(() => world.calls.length === 1);
  expect(await begin()).toBe("busy");
  gate.resolve();
  await untilStatus(sql, target, "published");
  expect(await begin()).toBeInstanceOf(Date);
});
