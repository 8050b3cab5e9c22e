import { afterEach, beforeEach, expect, test } from "vitest";
import { itemsOf, telegram, TestSimulator, textOf, tweet } from "#src/testing.ts";

let simulator: TestSimulator;

beforeEach(async () => {
  simulator = await TestSimulator.start();
});

afterEach(() => simulator[Symbol.asyncDispose]());

test("creating a simulated account twice returns the same account with new credentials, and the old credentials still work", async () => {
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

test("one call of the control API creates 300 simulated accounts with different usernames and external ids", async () => {
  for (const platform of ["x", "telegram", "bluesky"]) {
    const body = await simulator.control("/accounts", { platform, count: 300 });
    const accounts = itemsOf(body["accounts"]);
    expect(new Set(accounts.map((account) => account["username"])).size).toBe(300);
    expect(new Set(accounts.map((account) => account["externalId"])).size).toBe(300);
  }
});

test("the simulator refuses to create an account on an unknown platform or with a username that the platform forbids", async () => {
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

test("GET /_control/visible returns posts oldest first, filters them by platform, account and time, and can limit their number", async () => {
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
  expect(await texts("?account=unknown")).toEqual([]);
});

test("GET /_control/visible returns the platform, account, id, text, media, creation time and number of publishing calls of a post", async () => {
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

test("GET /_control/secrets lists every issued secret, and the request log contains none of them", async () => {
  const secrets: string[] = [];
  for (const platform of ["x", "telegram", "bluesky"]) {
    const { credentials } = await simulator.account(platform);
    const { accessToken, refreshToken, botToken, appPassword } = credentials;
    secrets.push(
      ...[accessToken, refreshToken, botToken, appPassword].filter((s) => s !== undefined),
    );
    if (botToken !== undefined) await simulator.call("GET", `/telegram/bot${botToken}/getMe`);
  }
  expect(await simulator.control("/secrets")).toEqual(expect.arrayContaining(secrets));
  const log = JSON.stringify(await simulator.control("/requests"));
  expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
});

test("the simulator's request log says for each call its operation and account, and whether the platform carried it out", async () => {
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

test("POST /_control/comments adds a comment only to a visible post, and only on a platform that lets apps read comments", async () => {
  const account = await simulator.account("x");
  const { body } = await tweet(simulator, account, { text: "hello" });
  const mediaId = textOf(body["data"]?.["id"]);
  const comment = { platform: "x", account: account.username, mediaId, author: "eve", text: "hi" };
  expect((await simulator.control("/comments", comment))["id"]).toMatch(/^\d+$/);
  const post = (json: unknown) => simulator.call("POST", "/_control/comments", { json });
  expect((await post({ ...comment, mediaId: "1" })).status).toBe(404);
  expect((await post({ ...comment, platform: "telegram" })).status).toBe(400);
});

/** As a new simulator has them. */
const SETTINGS = {
  quotas: true,
  latencyMs: 0,
  authorize: "ask",
  audited: true,
  insightsLagMs: 0,
  tiktokWholeVideoBytes: 64_000_000,
  graphCallsPerDay: 4800,
  instagramTokenShape: "object",
  instagramPageTokenReads: "allowed",
  facebookApp: "all",
  xFieldNames: "both",
  xUserPostsPerDay: 2400,
  xAppPostsPerDay: 10_000,
  xUsageCap: "open",
  tiktokPostsOfOtherApps: 0,
  facebookVideos: "allowed",
  repeatedPosts: "refused",
  instagramHashtags: 30,
};

test("POST /_control/settings returns the current settings, and its setting latencyMs delays every answer of a platform", async () => {
  expect(await simulator.control("/settings", {})).toEqual(SETTINGS);
  const settings = {
    ...SETTINGS,
    quotas: false,
    latencyMs: 60,
    authorize: "deny",
    audited: false,
    tiktokWholeVideoBytes: 0,
    graphCallsPerDay: 100,
    instagramTokenShape: "list",
    instagramPageTokenReads: "refused",
    facebookApp: "publishing",
    xFieldNames: "new",
    repeatedPosts: "accepted",
  };
  expect(await simulator.control("/settings", settings)).toEqual(settings);
  const account = await simulator.account("x");
  const startedAt = performance.now();
  await tweet(simulator, account, { text: "slow" });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(55);
});

test("POST /_control/reset clears posts, fault rules, request log, clock and settings, but keeps accounts", async () => {
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
  expect(await simulator.control("/settings")).toEqual(SETTINGS);
  expect((await tweet(simulator, account, { text: "hello" })).status).toBe(201);
});
