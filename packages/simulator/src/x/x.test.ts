import { afterEach, beforeEach, expect, test } from "vitest";
import { itemsOf, type TestAccount, TestSimulator, textOf, tweet } from "#src/testing.ts";

let simulator: TestSimulator;
let account: TestAccount;
let token: string;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  account = await simulator.account("x");
  token = account.credentials["accessToken"] ?? "";
});

afterEach(() => simulator[Symbol.asyncDispose]());

const publish = (text: string) => tweet(simulator, account, { text });
const timeline = (query: string) =>
  simulator.call("GET", `/x/2/users/${account.externalId}/tweets${query}`, { token });

test("the simulated X creates a tweet with a numeric id and returns the rate limit headers", async () => {
  const answer = await publish("hello");
  expect(answer.status).toBe(201);
  const id = answer.body["data"]?.["id"];
  expect(id).toMatch(/^[0-9]{1,19}$/);
  expect(answer.body).toEqual({ data: { id, text: "hello", edit_history_post_ids: [id] } });
  expect(answer.headers.get("x-rate-limit-limit")).toBe("100");
  expect(answer.headers.get("x-rate-limit-remaining")).toBe("99");
});

test("the simulated X answers status 400 to a request for a new tweet with an unknown or invalid field, also in a nested object", async () => {
  for (const body of [
    { text: "a", colour: "red" },
    { text: "a", reply: { in_reply_to_tweet_id: "1", colour: "red" } },
    { text: 5 },
    { text: "a", media: { media_ids: [] } },
    { text: "a", media: { media_ids: ["123"] } },
    {},
  ]) {
    const answer = await tweet(simulator, account, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      title: "Invalid Request",
      type: "https://api.x.com/2/problems/invalid-request",
    });
  }
});

test("the simulated X accepts a tweet of 280 weighted characters and refuses a tweet of 281 weighted characters", async () => {
  expect((await publish("한".repeat(140))).status).toBe(201);
  expect((await publish("한".repeat(140).concat("a"))).status).toBe(400);
  expect((await publish(`https://example.com/${"p".repeat(300)} ${"a".repeat(256)}`)).status).toBe(
    201,
  );
});

test("the simulated X refuses a tweet with the same content as an earlier tweet until the earlier tweet is deleted", async () => {
  const id = textOf((await publish("once")).body["data"]?.["id"]);
  const again = await publish(" once ");
  expect(again.status).toBe(403);
  expect(again.body).toEqual({
    title: "Forbidden",
    detail: "You are not allowed to create a Tweet with duplicate content.",
    type: "about:blank",
    status: 403,
  });
  await simulator.call("DELETE", `/x/2/tweets/${id}`, { token });
  expect((await publish("once")).status).toBe(201);
  expect((await publish("once")).status).toBe(403);
  await simulator.control("/settings", { repeatedPosts: "accepted" });
  expect((await publish("once")).status).toBe(201);
});

test("a simulated X timeline returns links as t.co links and escapes markup, and the control API shows the text as sent", async () => {
  const sent = "a < b & see example.com/x?a=1&b=2 or https://www.example.org";
  await publish(sent);
  const answer = await timeline("?tweet.fields=created_at,entities");
  const tweeted = answer.body["data"]?.[0];
  expect(tweeted?.["text"]).toMatch(
    /^a &lt; b &amp; see https:\/\/t\.co\/\w{10} or https:\/\/t\.co\/\w{10}$/,
  );
  const urls = tweeted?.["entities"]?.["urls"];
  expect(itemsOf(urls).map((url) => [url["expanded_url"], url["display_url"]])).toEqual([
    ["http://example.com/x?a=1&b=2", "example.com/x?a=1&b=2"],
    ["https://www.example.org", "example.org"],
  ]);
  const first = urls?.[0];
  expect(textOf(tweeted?.["text"]).slice(Number(first?.["start"]), Number(first?.["end"]))).toBe(
    first?.["url"],
  );
  expect(tweeted?.["created_at"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
  expect(await simulator.visibleTexts("x")).toEqual([sent]);
});

test("a simulated X timeline returns pages of tweets, newest first, back to the requested start time", async () => {
  await publish("old");
  await simulator.control("/clock", { advanceMs: 3_600_000 });
  const start = textOf((await simulator.control("/clock"))["now"]);
  for (let index = 0; index < 12; index += 1) await publish(`new ${index}`);
  const query = `?max_results=5&start_time=${start}`;
  const texts: string[] = [];
  let next = "";
  do {
    const { body } = await timeline(query + next);
    texts.push(...itemsOf(body["data"]).map((one) => textOf(one["text"])));
    const nextToken = body["meta"]?.["next_token"];
    next = nextToken === undefined ? "" : `&pagination_token=${textOf(nextToken)}`;
  } while (next !== "");
  expect(texts).toEqual(Array.from({ length: 12 }, (_unused, index) => `new ${11 - index}`));
});

test("the simulated X answers status 400 to an invalid query parameter of a timeline", async () => {
  for (const query of [
    "?max_results=4",
    "?max_results=101",
    "?start_time=yesterday",
    "?colour=red",
    "?tweet.fields=colour",
    "?pagination_token=nonsense!",
  ])
    expect((await timeline(query)).status).toBe(400);
});

test("the simulated X answers a lookup of several tweets with the existing tweets and an error entry for each missing tweet", async () => {
  const id = textOf((await publish("here")).body["data"]?.["id"]);
  await simulator.control("/metrics", {
    platform: "x",
    account: account.username,
    id,
    likes: 3,
    impressions: 40,
  });
  const path = `/x/2/tweets?ids=${id},999&tweet.fields=public_metrics`;
  const answer = await simulator.call("GET", path, { token });
  expect(answer.status).toBe(200);
  expect(answer.body["data"]?.[0]?.["public_metrics"]).toMatchObject({
    like_count: 3,
    impression_count: 40,
  });
  expect(answer.body["errors"]?.[0]).toMatchObject({
    resource_id: "999",
    title: "Not Found Error",
  });
});

test("the simulated X lets only the author delete a tweet, and answers a second deletion like the first deletion", async () => {
  const id = textOf((await publish("mine")).body["data"]?.["id"]);
  const otherAccount = await simulator.account("x");
  const theirs = otherAccount.credentials["accessToken"] ?? "";
  expect((await simulator.call("DELETE", `/x/2/tweets/${id}`, { token: theirs })).status).toBe(403);
  for (const _time of [1, 2]) {
    const answer = await simulator.call("DELETE", `/x/2/tweets/${id}`, { token });
    expect(answer.body).toEqual({ data: { deleted: true } });
  }
  expect(await simulator.visibleTexts("x")).toEqual([]);
});

test("the simulated X refuses the 101st tweet within 15 minutes and says when the limit resets, unless the setting `quotas` is off", async () => {
  for (let index = 0; index < 100; index += 1) await publish(`tweet ${index}`);
  const answer = await publish("one too many");
  expect(answer.status).toBe(429);
  expect(answer.headers.get("x-rate-limit-remaining")).toBe("0");
  const reset = Number(answer.headers.get("x-rate-limit-reset")) * 1000;
  expect(reset - (await simulator.now())).toBeLessThanOrEqual(901_000);
  await simulator.control("/settings", { quotas: false });
  expect((await publish("allowed")).status).toBe(201);
  expect((await publish("allowed")).status).toBe(403);
  await simulator.control("/settings", { quotas: true });
  await simulator.control("/clock", { advanceMs: 900_000 });
  expect((await publish("next window")).status).toBe(201);
});

test("the simulated X refuses tweets above the 24-hour limit of the user or app, with that limit's headers, and every call after the usage cap", async () => {
  await simulator.control("/settings", { xUserPostsPerDay: 1, xAppPostsPerDay: 2 });
  expect((await publish("one")).headers.get("x-user-limit-24hour-remaining")).toBe("0");
  const user = await publish("two");
  expect([user.status, user.body["title"]]).toEqual([429, "Too Many Requests"]);
  const reset = Number(user.headers.get("x-user-limit-24hour-reset")) * 1000;
  expect(reset - (await simulator.now())).toBeGreaterThan(23 * 3_600_000);
  expect(user.headers.get("x-app-limit-24hour-remaining")).toBe("1");
  expect(user.headers.get("x-rate-limit-remaining")).toBe("99");
  const other = await simulator.account("x");
  expect((await tweet(simulator, other, { text: "three" })).status).toBe(201);
  const third = await simulator.account("x");
  const app = await tweet(simulator, third, { text: "four" });
  expect([app.status, app.headers.get("x-app-limit-24hour-remaining")]).toEqual([429, "0"]);
  expect(app.headers.get("x-user-limit-24hour-remaining")).toBe("1");
  await simulator.control("/clock", { advanceMs: 86_400_000 });
  const reread = await simulator.account("x");
  expect((await tweet(simulator, reread, { text: "five" })).status).toBe(201);
  await simulator.control("/settings", { xUsageCap: "reached" });
  const capped = await tweet(simulator, reread, { text: "six" });
  expect(capped.status).toBe(429);
  expect(capped.body["type"]).toMatch(/\/usage-capped$/);
});

test("a simulated X access token is valid for two hours, and a refresh token works once", async () => {
  await simulator.control("/clock", { advanceMs: 7_200_000 });
  const expired = await publish("late");
  expect([expired.status, expired.body["title"]]).toEqual([401, "Unauthorized"]);
  const form = {
    grant_type: "refresh_token",
    refresh_token: account.credentials["refreshToken"] ?? "",
    client_id: "app",
  };
  const refreshed = await simulator.call("POST", "/x/2/oauth2/token", { form });
  expect(refreshed.body).toMatchObject({ token_type: "bearer", expires_in: 7200 });
  token = textOf(refreshed.body["access_token"]);
  expect((await simulator.call("GET", "/x/2/users/me", { token })).body["data"]).toMatchObject({
    id: account.externalId,
    username: account.username,
  });
  const again = await simulator.call("POST", "/x/2/oauth2/token", { form });
  expect([again.status, again.body["error"]]).toEqual([400, "invalid_request"]);
});

test("revoking an access token of the simulated X also invalidates the refresh token of the same authorization", async () => {
  const form = { token, client_id: "app" };
  const revoked = await simulator.call("POST", "/x/2/oauth2/revoke", { form });
  expect(revoked.body).toEqual({ revoked: true });
  expect((await publish("after")).status).toBe(401);
  const refresh = {
    grant_type: "refresh_token",
    refresh_token: account.credentials["refreshToken"] ?? "",
    client_id: "app",
  };
  expect((await simulator.call("POST", "/x/2/oauth2/token", { form: refresh })).status).toBe(400);
});

test("the simulated X refuses a token call without a client id", async () => {
  const form = { grant_type: "refresh_token", refresh_token: "a" };
  expect((await simulator.call("POST", "/x/2/oauth2/token", { form })).status).toBe(401);
});
