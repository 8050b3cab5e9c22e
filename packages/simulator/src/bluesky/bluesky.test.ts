import { afterEach, beforeEach, expect, test } from "vitest";
import { itemsOf, type TestAccount, TestSimulator, textOf } from "#src/testing.ts";

const RKEY = "3lbexample222";
const COLLECTION = "app.bsky.feed.post";

let simulator: TestSimulator;
let account: TestAccount;
let accessJwt: string;
let refreshJwt: string;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  account = await simulator.account("bluesky", "ada");
  const session = await login();
  accessJwt = textOf(session.body["accessJwt"]);
  refreshJwt = textOf(session.body["refreshJwt"]);
});

afterEach(() => simulator[Symbol.asyncDispose]());

const procedure = (nsid: string, json: unknown, token?: string) =>
  simulator.call("POST", `/bluesky/xrpc/${nsid}`, {
    json,
    ...(token === undefined ? {} : { token }),
  });

const query = (nsid: string, parameters: string, token?: string) =>
  simulator.call(
    "GET",
    `/bluesky/xrpc/${nsid}?${parameters}`,
    token === undefined ? {} : { token },
  );

function login() {
  const { identifier, appPassword } = account.credentials;
  return procedure("com.atproto.server.createSession", { identifier, password: appPassword });
}

const record = (text: string, extra: Record<string, unknown> = {}) => ({
  $type: COLLECTION,
  text,
  createdAt: "2026-11-20T10:00:00.000Z",
  ...extra,
});

const put = (value: unknown, extra: Record<string, unknown> = {}) =>
  procedure(
    "com.atproto.repo.putRecord",
    {
      repo: account.externalId,
      collection: COLLECTION,
      rkey: RKEY,
      record: value,
      swapRecord: null,
      ...extra,
    },
    accessJwt,
  );

const uri = () => `at://${account.externalId}/${COLLECTION}/${RKEY}`;
const get = () =>
  query(
    "com.atproto.repo.getRecord",
    `repo=${account.externalId}&collection=${COLLECTION}&rkey=${RKEY}`,
  );

test("a simulated Bluesky login returns the account, its server (PDS), and an access token that expires after two hours", async () => {
  const { body } = await login();
  expect(body).toMatchObject({ did: account.externalId, handle: "ada.bsky.social", active: true });
  expect(body["didDoc"]?.["service"]?.[0]?.["serviceEndpoint"]).toBe(`${simulator.url}/bluesky`);
  const payload = JSON.parse(
    Buffer.from(textOf(body["accessJwt"]).split(".")[1] ?? "", "base64url").toString(),
  ) as { exp: number; iat: number };
  expect(payload.exp - payload.iat).toBe(7200);
});

test("the simulated Bluesky refuses a login with a wrong password", async () => {
  const input = { identifier: account.username, password: "aaaa-bbbb-cccc-dddd" };
  const answer = await procedure("com.atproto.server.createSession", input);
  expect([answer.status, answer.body["error"]]).toEqual([401, "AuthenticationRequired"]);
});

test("the simulated Bluesky accepts the login of an account only at the server that the account's DID document names", async () => {
  const other = await simulator.account("bluesky", "alice.pds.example");
  const { identifier, appPassword } = other.credentials;
  const json = { identifier, password: appPassword };
  const nsid = "com.atproto.server.createSession";
  expect((await procedure(nsid, json)).body["error"]).toBe("AuthenticationRequired");
  const resolved = await query("com.atproto.identity.resolveHandle", `handle=${other.username}`);
  expect(resolved.body["did"]).toBe(other.externalId);
  const document = await simulator.call("GET", `/bluesky/plc/${other.externalId}`);
  const server = textOf(document.body["service"]?.[0]?.["serviceEndpoint"]);
  expect(server).toBe(`${simulator.url}/bluesky/other-pds`);
  const path = `${server.slice(simulator.url.length)}/xrpc/${nsid}`;
  expect((await simulator.call("POST", path, { json })).body).toMatchObject({
    did: other.externalId,
    handle: "alice.pds.example",
  });
});

test("putting an identical record into the simulated Bluesky again creates no commit and returns the same URI and CID", async () => {
  const first = await put(record("hello"));
  expect(first.body).toMatchObject({ uri: uri(), validationStatus: "valid" });
  expect(first.body["commit"]).toBeDefined();
  const again = await put({ createdAt: "2026-11-20T10:00:00.000Z", text: "hello" });
  expect(again.status).toBe(200);
  expect(again.body["cid"]).toBe(first.body["cid"]);
  expect(again.body["commit"]).toBeUndefined();
  const visible = await simulator.control("/visible?platform=bluesky");
  expect(itemsOf(visible).map((post) => [post["id"], post["createCalls"]])).toEqual([[RKEY, 2]]);
});

test("six concurrent puts of the same record into the simulated Bluesky create exactly one commit", async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => put(record("race"))));
  expect(answers.filter((answer) => answer.body["commit"] !== undefined)).toHaveLength(1);
  expect(await simulator.visibleTexts("bluesky")).toEqual(["race"]);
});

test("the simulated Bluesky replaces a record only when swapRecord is the CID of the current record", async () => {
  const { cid } = (await put(record("first"))).body as unknown as { cid: string };
  const answer = await put(record("second"));
  expect([answer.status, answer.body]).toEqual([
    400,
    { error: "InvalidSwap", message: `Record was at ${cid}` },
  ]);
  expect((await put(record("second"), { swapRecord: cid })).status).toBe(200);
  expect(await simulator.visibleTexts("bluesky")).toEqual(["second"]);
});

test("the simulated Bluesky refuses a post whose record key is not a TID", async () => {
  const answer = await put(record("hello"), { rkey: "not-a-tid" });
  expect(answer.status).toBe(400);
  expect(answer.body["message"]).toContain("Invalid TID string");
});

test("the simulated Bluesky answers 500 to createRecord with a record key that is already taken", async () => {
  await put(record("first"));
  const input = { repo: account.externalId, collection: COLLECTION, record: record("second") };
  const taken = { ...input, rkey: RKEY };
  const answer = await procedure("com.atproto.repo.createRecord", taken, accessJwt);
  expect([answer.status, answer.body["error"]]).toEqual([500, "InternalServerError"]);
  const free = await procedure("com.atproto.repo.createRecord", input, accessJwt);
  expect(free.body["uri"]).toMatch(/\/[2-7a-z]{13}$/);
});

test("the simulated Bluesky accepts a post of 300 graphemes, and refuses a post of 301 graphemes or of more than 3000 bytes", async () => {
  const family = "👨‍👩‍👧‍👦";
  expect((await put(record("é".repeat(300)))).status).toBe(200);
  const many = await put(record("a".repeat(301)));
  expect(many.body["message"]).toContain("grapheme too big (maximum 300, got 301)");
  const big = await put(record(family.repeat(130)));
  expect(big.body["message"]).toContain("string too big (maximum 3000, got 3250)");
});

test("the simulated Bluesky refuses a post that violates its lexicon", async () => {
  for (const value of [
    { text: "no time" },
    record("time", { createdAt: "yesterday" }),
    record("langs", { langs: ["en", "ko", "de", "fr"] }),
    record("facet", { facets: [{ index: { byteStart: 0 }, features: [] }] }),
    record("reply", { reply: { root: {} } }),
    record("type", { $type: "app.bsky.feed.like" }),
  ])
    expect((await put(value)).body["error"]).toBe("InvalidRequest");
});

test("a deleted record of the simulated Bluesky is not found, can be deleted again, and can be created again", async () => {
  await put(record("hello"));
  expect((await get()).body["value"]).toMatchObject({ text: "hello" });
  const place = { repo: account.username, collection: COLLECTION, rkey: RKEY };
  for (const _time of [1, 2]) {
    const answer = await procedure("com.atproto.repo.deleteRecord", place, accessJwt);
    expect(answer.status).toBe(200);
  }
  expect((await get()).body["error"]).toBe("RecordNotFound");
  expect(await simulator.visibleTexts("bluesky")).toEqual([]);
  await put(record("hello"));
  expect(await simulator.visibleTexts("bluesky")).toEqual(["hello"]);
});

test("a simulated Bluesky access token cannot write to another account's repository", async () => {
  const other = await simulator.account("bluesky");
  expect((await put(record("theirs"), { repo: other.externalId })).status).toBe(401);
});

test("the simulated Bluesky lists the records of a repository in pages, highest record key first", async () => {
  const rkeys = ["3lbexample222", "3lbexample223", "3lbexample224"];
  for (const rkey of rkeys) await put(record(rkey), { rkey });
  const list = (cursor: string) =>
    query(
      "com.atproto.repo.listRecords",
      `repo=ada.bsky.social&collection=${COLLECTION}&limit=2${cursor}`,
    );
  const first = await list("");
  const second = await list(`&cursor=${textOf(first.body["cursor"])}`);
  const texts = [first, second].map((page) =>
    itemsOf(page.body["records"]).map((one) => one["value"]?.["text"]),
  );
  expect(texts).toEqual([["3lbexample224", "3lbexample223"], ["3lbexample222"]]);
  expect(second.body["cursor"]).toBeUndefined();
});

test("the simulated Bluesky returns the requested posts with their counters and leaves out posts that do not exist", async () => {
  await put(record("hello"));
  const { externalId } = account;
  await simulator.control("/metrics", {
    platform: "bluesky",
    account: externalId,
    id: RKEY,
    likes: 2,
  });
  const missing = `at://${externalId}/${COLLECTION}/3lbmissing2222`;
  const answer = await query(
    "app.bsky.feed.getPosts",
    `uris=${encodeURIComponent(uri())}&uris=${encodeURIComponent(missing)}`,
    accessJwt,
  );
  expect(itemsOf(answer.body["posts"]).map((post) => [post["uri"], post["likeCount"]])).toEqual([
    [uri(), 2],
  ]);
});

test("the simulated Bluesky resolves a handle to its DID and refuses an unknown handle", async () => {
  const nsid = "com.atproto.identity.resolveHandle";
  expect((await query(nsid, "handle=ada.bsky.social")).body).toEqual({ did: account.externalId });
  expect((await query(nsid, "handle=unknown.bsky.social")).status).toBe(400);
});

test("an expired simulated Bluesky session can be refreshed, and the old refresh token works for two more hours", async () => {
  await simulator.control("/clock", { advanceMs: 7_200_000 });
  const expired = await put(record("late"));
  expect([expired.status, expired.body["error"]]).toEqual([400, "ExpiredToken"]);
  const refresh = () => procedure("com.atproto.server.refreshSession", undefined, refreshJwt);
  accessJwt = textOf((await refresh()).body["accessJwt"]);
  expect((await put(record("late"))).status).toBe(200);
  await simulator.control("/clock", { advanceMs: 7_000_000 });
  expect((await refresh()).status).toBe(200);
  await simulator.control("/clock", { advanceMs: 200_001 });
  expect((await refresh()).body["error"]).toBe("ExpiredToken");
});

test("a session of the simulated Bluesky that was ended cannot be refreshed but can be ended again, and its access token stays valid", async () => {
  const end = () => procedure("com.atproto.server.deleteSession", undefined, refreshJwt);
  expect((await end()).status).toBe(200);
  expect((await end()).status).toBe(200);
  const refreshed = await procedure("com.atproto.server.refreshSession", undefined, refreshJwt);
  expect(refreshed.body).toEqual({ error: "ExpiredToken", message: "Token has been revoked" });
  expect((await put(record("still"))).status).toBe(200);
});

test("the simulated Bluesky answers AuthMissing to a call without a token, and InvalidToken to an unknown token or a refresh token", async () => {
  const body = { repo: account.externalId, collection: COLLECTION, rkey: RKEY };
  const remove = (token?: string) => procedure("com.atproto.repo.deleteRecord", body, token);
  expect((await remove()).body["error"]).toBe("AuthMissing");
  expect((await remove("nonsense")).body["error"]).toBe("InvalidToken");
  expect((await remove(refreshJwt)).body["error"]).toBe("InvalidToken");
});

test("every write to the simulated Bluesky uses up rate limit points, and the response headers state how many are left", async () => {
  const first = await put(record("first"));
  expect(first.headers.get("ratelimit-limit")).toBe("5000");
  expect(first.headers.get("ratelimit-remaining")).toBe("4997");
  expect(first.headers.get("ratelimit-policy")).toBe("5000;w=3600");
  const again = await put(record("first"));
  expect(again.headers.get("ratelimit-remaining")).toBe("4995");
});

test("the simulated Bluesky refuses the 31st login within five minutes and says how long to wait", async () => {
  for (let index = 0; index < 29; index += 1) await login();
  const answer = await login();
  expect([answer.status, answer.body["error"]]).toEqual([429, "RateLimitExceeded"]);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("the simulated Bluesky refuses a login with a revoked app password", async () => {
  const names = await query("com.atproto.server.listAppPasswords", "", accessJwt);
  const name = names.body["passwords"]?.[0]?.["name"];
  await procedure("com.atproto.server.revokeAppPassword", { name }, accessJwt);
  expect((await login()).status).toBe(401);
});

test("the simulated Bluesky refuses a threadgate that hides more than 300 replies or that names no post", async () => {
  const gate = (value: object) =>
    procedure(
      "com.atproto.repo.putRecord",
      {
        repo: account.externalId,
        collection: "app.bsky.feed.threadgate",
        rkey: RKEY,
        record: { createdAt: new Date().toISOString(), ...value },
      },
      accessJwt,
    );
  const hiddenReplies = Array.from({ length: 301 }, () => uri());
  expect((await gate({ post: uri(), hiddenReplies })).body["message"]).toBe(
    "Invalid app.bsky.feed.threadgate record: array too big (maximum 300, got 301) at $.hiddenReplies",
  );
  expect((await gate({ hiddenReplies: [] })).status).toBe(400);
  expect((await gate({ post: uri(), hiddenReplies: [uri()] })).status).toBe(200);
});
