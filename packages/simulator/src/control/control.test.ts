import { afterEach, beforeEach, expect, test } from "vitest";
import { TestSimulator, itemsOf, telegram, tweet, textOf } from "#src/testing.ts";

let simulator: TestSimulator;

beforeEach(async () => {
  simulator = await TestSimulator.start();
});

afterEach(() => simulator[Symbol.asyncDispose]());

test("a username that exists gives the same account with fresh credentials that work beside the old ones", async () => {
  for (const platform of ["x", "telegram", "bluesky"]) {
    const first = await simulator.account(platform, "harbour");
    const second = await simulator.account(platform, "Harbour");
    expect(second.externalId).toBe(first.externalId);
    expect(second.credentials).not.toEqual(first.credentials);
  }
  const first = await simulator.account("x", "harbour");
  await simulator.account("x", "harbour");
  expect((await tweet(simulator, first, { text: "still" })).status).toBe(201);
});

test("many accounts at once have names of their own", async () => {
  for (const platform of ["x", "telegram", "bluesky"]) {
    const body = await simulator.control("/accounts", { platform, count: 300 });
    const accounts = itemsOf(body["accounts"]);
    expect(new Set(accounts.map((account) => account["username"])).size).toBe(300);
    expect(new Set(accounts.map((account) => account["externalId"])).size).toBe(300);
  }
});

test("a username that a platform would not allow is refused", async () => {
  for (const [platform, username] of [
    ["x", "sixteencharacter"],
    ["x", "with space"],
    ["telegram", "abc"],
    ["telegram", "1abcd"],
    ["bluesky", "under_score"],
    ["myspace", "tom"],
  ]) {
    const json = { platform, username };
    expect((await simulator.call("POST", "/_control/accounts", { json })).status).toBe(400);
  }
});

test("the inspector filters by account, time and number, oldest first", async () => {
  const [ada, bob] = [await simulator.account("x", "ada"), await simulator.account("x", "bob")];
  await tweet(simulator, ada, { text: "1" });
  await tweet(simulator, bob, { text: "2" });
  await simulator.control("/clock", { advanceMs: 1000 });
  const since = textOf((await simulator.control("/clock"))["now"]);
  await tweet(simulator, ada, { text: "3" });
  await tweet(simulator, bob, { text: "4" });
  const texts = async (query: string) =>
    itemsOf(await simulator.control(`/visible${query}`)).map((post) => post["text"]);
  expect(await texts("")).toEqual(["1", "2", "3", "4"]);
  expect(await texts("?limit=2")).toEqual(["1", "2"]);
  expect(await texts("?account=ADA")).toEqual(["1", "3"]);
  expect(await texts(`?platform=x&account=${bob.externalId}`)).toEqual(["2", "4"]);
  expect(await texts(`?since=${since}`)).toEqual(["3", "4"]);
  expect(await texts(`?since=${Date.parse(since)}&account=bob`)).toEqual(["4"]);
  expect(await texts("?platform=telegram")).toEqual([]);
  expect(await texts("?account=nobody")).toEqual([]);
});

test("the inspector shows the whole entry", async () => {
  const channel = await simulator.account("telegram");
  await telegram(simulator, channel, "sendMessage", { text: "hello" });
  const [entry] = itemsOf(await simulator.control("/visible"));
  expect(entry).toEqual({
    platform: "telegram",
    account: channel.externalId,
    id: "2",
    text: "hello",
    media: [],
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    createCalls: 1,
  });
});

test("every secret that was handed out is listed, and the log holds none", async () => {
  const secrets: string[] = [];
  for (const platform of ["x", "telegram", "bluesky"]) {
    const { credentials } = await simulator.account(platform);
    const { accessToken, refreshToken, botToken, appPassword } = credentials;
    secrets.push(
      ...[accessToken, refreshToken, botToken, appPassword].filter((s) => s !== undefined),
    );
    if (botToken !== undefined) {
      await simulator.call("GET", `/telegram/bot${botToken}/getMe`);
    }
  }
  expect(await simulator.control("/secrets")).toEqual(expect.arrayContaining(secrets));
  const log = JSON.stringify(await simulator.control("/requests"));
  expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
});

test("the request log tells what was asked of whom and how it ended", async () => {
  const account = await simulator.account("x");
  await tweet(simulator, account, { text: "hello" });
  await tweet(simulator, account, { text: "hello" });
  await simulator.call("GET", "/x/nowhere");
  const log = await simulator.control("/requests?platform=x");
  const publish = { platform: "x", method: "POST", path: "/2/tweets", operation: "publish" };
  expect(log).toEqual([
    { ...publish, outcome: "done", account: account.externalId, time: expect.any(String) },
    { ...publish, outcome: "refused", account: account.externalId, time: expect.any(String) },
    {
      platform: "x",
      method: "GET",
      path: "/nowhere",
      operation: "other",
      outcome: "refused",
      account: null,
      time: expect.any(String),
    },
  ]);
});

test("readers comment on visible posts where comments can be read", async () => {
  const account = await simulator.account("x");
  const { body } = await tweet(simulator, account, { text: "hello" });
  const mediaId = textOf(body["data"]?.["id"]);
  const comment = { platform: "x", account: account.username, mediaId, author: "eve", text: "hi" };
  expect((await simulator.control("/comments", comment))["id"]).toMatch(/^\d+$/);
  const post = (json: unknown) => simulator.call("POST", "/_control/comments", { json });
  expect((await post({ ...comment, mediaId: "1" })).status).toBe(404);
  expect((await post({ ...comment, platform: "telegram" })).status).toBe(400);
});

test("settings answer what is in force, and latency holds every answer", async () => {
  expect(await simulator.control("/settings", {})).toEqual({
    quotas: true,
    latencyMs: 0,
    authorize: "ask",
    audited: true,
  });
  const settings = { quotas: false, latencyMs: 60, authorize: "deny", audited: false };
  expect(await simulator.control("/settings", settings)).toEqual(settings);
  const account = await simulator.account("x");
  const startedAt = performance.now();
  await tweet(simulator, account, { text: "slow" });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(55);
});

test("a reset forgets posts, faults, log, clock and settings and keeps accounts", async () => {
  const account = await simulator.account("x");
  await tweet(simulator, account, { text: "hello" });
  await simulator.control("/clock", { advanceMs: 60_000 });
  await simulator.control("/settings", { quotas: false });
  await simulator.control("/faults", { platform: "x", operation: "delete", mode: "delay" });
  await simulator.control("/reset", {});
  expect(await simulator.control("/visible")).toEqual([]);
  expect(await simulator.control("/faults")).toEqual([]);
  expect(await simulator.control("/requests")).toEqual([]);
  expect((await simulator.control("/clock"))["offsetMs"]).toBe(0);
  expect(await simulator.control("/settings")).toEqual({
    quotas: true,
    latencyMs: 0,
    authorize: "ask",
    audited: true,
  });
  expect((await tweet(simulator, account, { text: "hello" })).status).toBe(201);
});
