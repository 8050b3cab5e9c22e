import { afterEach, beforeEach, expect, test } from "vitest";
import {
  itemsOf,
  telegram,
  type TestAccount,
  TestSimulator,
  textOf,
  tweet,
  until,
} from "#src/testing.ts";

let simulator: TestSimulator;
let account: TestAccount;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  account = await simulator.account("x");
});

afterEach(() => simulator[Symbol.asyncDispose]());

async function addFault(rule: Record<string, unknown>): Promise<string> {
  const added = await simulator.control("/faults", {
    platform: "x",
    operation: "publish",
    ...rule,
  });
  return textOf(added["id"]);
}

const publish = (text: string) => tweet(simulator, account, { text });
const outcomes = async () =>
  itemsOf(await simulator.control("/requests?platform=x")).map((entry) => entry["outcome"]);

test("under a fault rule of the kind `drop_before`, the simulated platform closes the connection without publishing the post", async () => {
  await addFault({ mode: "drop_before" });
  await expect(publish("one")).rejects.toThrow("fetch failed");
  expect(await simulator.visibleTexts("x")).toEqual([]);
  expect(await outcomes()).toEqual(["dropped"]);
  expect((await publish("one")).status).toBe(201);
});

test("under a fault rule of the kind `drop_after_commit`, the simulated platform publishes the post and closes the connection without an answer", async () => {
  await addFault({ mode: "drop_after_commit" });
  await expect(publish("one")).rejects.toThrow("fetch failed");
  expect(await simulator.visibleTexts("x")).toEqual(["one"]);
  expect(await outcomes()).toEqual(["done"]);
});

test("under a fault rule `commit_late`, the simulated platform closes the connection at once and publishes the post after the rule's delay", async () => {
  await addFault({ mode: "commit_late", delayMs: 150 });
  const startedAt = performance.now();
  await expect(publish("one")).rejects.toThrow("fetch failed");
  expect(await simulator.visibleTexts("x")).toEqual([]);
  expect(await outcomes()).toEqual(["pending"]);
  await until(async () => (await simulator.visibleTexts("x")).length === 1);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(145);
  expect(await outcomes()).toEqual(["done"]);
});

test("resetting the simulator deletes the platform calls that a fault rule of the kind `commit_late` still delays", async () => {
  await addFault({ mode: "commit_late", delayMs: 50 });
  await expect(publish("one")).rejects.toThrow("fetch failed");
  await simulator.control("/reset", {});
  await addFault({ mode: "delay", delayMs: 120 });
  await publish("two");
  expect(await simulator.visibleTexts("x")).toEqual(["two"]);
});

test("under a fault rule `status_after_commit`, the simulated platform publishes the post and answers with a proxy's HTML error page", async () => {
  await addFault({ mode: "status_after_commit", status: 429 });
  const answer = await publish("one");
  expect(answer.status).toBe(429);
  expect(answer.headers.get("content-type")).toBe("text/html");
  expect(answer.headers.get("x-rate-limit-reset")).toBeNull();
  expect(textOf(answer.body)).toContain("nginx");
  expect(await simulator.visibleTexts("x")).toEqual(["one"]);
});

test("under a fault rule `status`, the simulated platform answers with the rule's status in its own error format, and publishes nothing", async () => {
  await addFault({ mode: "status", status: 402 });
  await addFault({ mode: "status", status: 429 });
  const poor = await publish("one");
  expect([poor.status, poor.body["title"]]).toEqual([402, "CreditsDepleted"]);
  const limited = await publish("one");
  expect([limited.status, limited.body["title"]]).toEqual([429, "Too Many Requests"]);
  expect(limited.headers.get("x-rate-limit-reset")).toMatch(/^\d{10}$/);
  expect(await simulator.visibleTexts("x")).toEqual([]);
  expect(await outcomes()).toEqual(["refused", "refused"]);
});

test("under a fault rule of the kind `refuse`, the simulated platform answers with a permanent error of the platform", async () => {
  await addFault({ mode: "refuse" });
  const answer = await publish("one");
  expect(answer.status).toBe(403);
  expect(answer.body["detail"]).toBe("You are not permitted to perform this action.");
  expect(await simulator.visibleTexts("x")).toEqual([]);
});

test("under a fault rule `delay`, the simulated platform publishes at once and answers later, and its request log shows `pending` until then", async () => {
  await addFault({ mode: "delay", delayMs: 1000 });
  const answer = publish("one");
  await until(async () => (await simulator.visibleTexts("x")).length === 1);
  expect(await outcomes()).toEqual(["pending"]);
  const hits = itemsOf(await simulator.control("/faults")).map((fault) => fault["hits"]);
  expect(hits).toEqual([1]);
  expect((await answer).status).toBe(201);
  expect(await outcomes()).toEqual(["done"]);
});

test("under a fault rule of the kind `garbage_body`, the simulated platform publishes the post and answers status 200 with an HTML page", async () => {
  await addFault({ mode: "garbage_body" });
  const answer = await publish("one");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/html");
  expect(await simulator.visibleTexts("x")).toEqual(["one"]);
});

test("until a fault rule of the kind `stale_reads` is deleted, timelines lack new posts, but GET /_control/visible shows them", async () => {
  const id = await addFault({ operation: undefined, mode: "stale_reads", delayMs: 60_000 });
  await publish("one");
  const token = account.credentials["accessToken"] ?? "";
  const read = async () =>
    (await simulator.call("GET", `/x/2/users/${account.externalId}/tweets`, { token })).body;
  expect((await read())["meta"]).toEqual({ result_count: 0 });
  expect(await simulator.visibleTexts("x")).toEqual(["one"]);
  await simulator.control("/clock", { advanceMs: 61_000 });
  expect((await read())["meta"]).toMatchObject({ result_count: 1 });
  await publish("two");
  expect((await read())["meta"]).toMatchObject({ result_count: 1 });
  await simulator.call("DELETE", `/_control/faults/${id}`);
  expect((await read())["meta"]).toMatchObject({ result_count: 2 });
});

test("fault rules apply in the order in which they were added, and the field times says how many requests each rule affects", async () => {
  await addFault({ mode: "status", status: 500, times: 2 });
  await addFault({ mode: "status", status: 503 });
  const statuses: number[] = [];
  for (const text of ["a", "b", "c", "d"]) statuses.push((await publish(text)).status);
  expect(statuses).toEqual([500, 500, 503, 201]);
  const faults = await simulator.control("/faults?platform=x");
  expect(itemsOf(faults).map((fault) => [fault["remaining"], fault["hits"]])).toEqual([
    [0, 2],
    [0, 1],
  ]);
});

test("a fault rule for one account does not affect other accounts", async () => {
  const other = await simulator.account("x");
  await addFault({ mode: "status", account: account.username });
  expect((await tweet(simulator, other, { text: "other" })).status).toBe(201);
  expect((await publish("mine")).status).toBe(500);
});

test("a fault rule can match a method and a path, and the request log does not contain the bot token in the path", async () => {
  const channel = await simulator.account("telegram");
  const operation = "POST /bot*/sendMessage";
  await addFault({ platform: "telegram", operation, mode: "status", status: 429 });
  const answer = await telegram(simulator, channel, "sendMessage", { text: "hello" });
  expect(answer.body).toEqual({
    ok: false,
    error_code: 429,
    description: "Too Many Requests: retry after 1",
    parameters: { retry_after: 1 },
  });
  const log = await simulator.control("/requests?platform=telegram");
  expect(log[0]).toMatchObject({ path: "/bot<token>/sendMessage", operation: "publish" });
});

test("POST /_control/faults refuses a fault rule that no request can match", async () => {
  for (const rule of [
    { platform: "x", mode: "delay" },
    { platform: "x", mode: "delay", operation: "nonsense" },
    { platform: "x", mode: "stale_reads", operation: "publish" },
    { platform: "nowhere", mode: "delay", operation: "publish" },
    { platform: "x", mode: "unheard_of", operation: "publish" },
    { platform: "x", mode: "delay", operation: "publish", extra: 1 },
  ])
    expect((await simulator.call("POST", "/_control/faults", { json: rule })).status).toBe(400);
});

test("stopping the simulator ends delayed requests at once", async () => {
  const held = await TestSimulator.start();
  const someone = await held.account("x");
  const rule = { platform: "x", operation: "publish", mode: "delay", delayMs: 60_000 };
  await held.control("/faults", rule);
  const answer = tweet(held, someone, { text: "held" }).catch(() => "closed");
  await until(async () => (await held.visibleTexts("x")).length === 1);
  const startedAt = performance.now();
  await held[Symbol.asyncDispose]();
  expect(await answer).toBe("closed");
  expect(performance.now() - startedAt).toBeLessThan(4000);
});
