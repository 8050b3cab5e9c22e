import { createPostgresBus } from "@postrider/shared/bus/postgres";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { HintFeed } from "#src/webhooks/operations/hint-feed.ts";
import { logger, openDatabase } from "../publishing/fixture.ts";

const database = await openDatabase();
const { sql } = database;
const bus = createPostgresBus({ sql, listenUrl: database.url, logger });
afterAll(async () => {
  await bus[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const openFeed = (more = {}) => new HintFeed({ bus: () => bus, logger, waitMs: 300, ...more });

const publish = (type: string, value: object) =>
  sql.begin((tx) =>
    bus.publish(tx, "delivery.events.v1", [
      { key: newId(), headers: { ce_type: type }, value: JSON.stringify(value) },
    ]),
  );

test("a feed returns hints of the wanted workspaces after a cursor, once each, or waits for them", async () => {
  await using feed = openFeed({ waitMs: 10_000 });
  const [workspaceId, other, postId, targetId] = [newId(), newId(), newId(), newId()];
  const wanted = new Set([workspaceId]);
  await publish("postrider.posts.v1.PostPublished", { workspaceId, postId: newId() });
  const start = await feed.wait("", wanted);
  expect(start).toMatchObject({ hints: [], isGap: false });

  const waiting = feed.wait(start.cursor, wanted);
  await publish("postrider.posts.v1.PostPublished", { workspaceId: other, postId });
  await publish("postrider.posts.v1.PostPublished", { workspaceId, postId });
  const first = await waiting;
  expect(first.hints).toEqual([{ workspaceId, type: "post", id: postId, postId: "" }]);

  const next = feed.wait(first.cursor, wanted);
  await publish("postrider.delivery.v1.TargetUpdated", { workspaceId, postId, targetId });
  expect((await next).hints).toEqual([
    { workspaceId, type: "target", id: targetId, postId },
    { workspaceId, type: "quota", id: "", postId: "" },
  ]);
});

test("another replica continues at a cursor, and says that there is a gap when its hints begin later", async () => {
  await using first = openFeed();
  const [workspaceId, postId] = [newId(), newId()];
  const wanted = new Set([workspaceId]);
  const { cursor } = await first.wait("", wanted);
  await using early = openFeed();
  await early.wait("", wanted);
  await publish("postrider.posts.v1.PostPublished", { workspaceId, postId });
  await eventually(async () => expect((await first.wait(cursor, wanted)).hints).toHaveLength(1));
  expect((await early.wait(cursor, wanted)).hints).toHaveLength(1);

  await using late = openFeed();
  const answer = await late.wait(cursor, wanted);
  expect(answer).toMatchObject({ hints: [], isGap: true });
  expect((await late.wait(answer.cursor, wanted)).isGap).toBe(false);
});

test("the bus is not read before the first question and not after the last one", async () => {
  const started: string[] = [];
  const counted = {
    ...bus,
    tail: async (tail: Parameters<typeof bus.tail>[0]) => {
      started.push("start");
      const opened = await bus.tail(tail);
      return {
        [Symbol.asyncDispose]: async () => {
          started.push("end");
          await opened[Symbol.asyncDispose]();
        },
      };
    },
  };
  await using feed = openFeed({ bus: () => counted, keepMs: 50, waitMs: 1 });
  expect(started).toEqual([]);
  await feed.wait("", new Set());
  await eventually(() => expect(started).toEqual(["start", "end"]));
  await feed.wait("", new Set());
  expect(started).toEqual(["start", "end", "start"]);
});

test("a process that is starting refuses questions, and answers them later", async () => {
  const parts: { bus?: typeof bus } = {};
  await using feed = openFeed({ bus: () => parts.bus, waitMs: 1 });
  await expect(feed.wait("", new Set())).rejects.toThrow("not open yet");
  parts.bus = bus;
  expect(await feed.wait("", new Set())).toMatchObject({ isGap: false });
});
