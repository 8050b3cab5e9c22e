import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Client, createClient } from "./client.ts";
import { PostriderConnectionError, PostriderError } from "./errors.ts";

/**
 * Returns the response to a request of the client, or throws, as `fetch` does without a connection.
 */
type Reply = () => Response;

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const json = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Reply => {
  return () => new Response(JSON.stringify(body), { status, headers });
};
const refusal = (status: number, code: string, headers = {}): Reply =>
  json(status, { error: { code, message: `The code is ${code}.` } }, headers);
const elsewhere = (address: string): Reply => {
  const details = [{ code: "wrong_cell", message: "Elsewhere.", cell: "us1", address }];
  return json(421, { error: { code: "wrong_cell", message: "Elsewhere.", details } });
};
const lost: Reply = () => {
  const cause = Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });
  throw new TypeError("fetch failed", { cause });
};
const POST = { content: "Hello", accountIds: ["a"] };

let sent: Sent[];

/**
 * Creates a client whose requests get these responses in order; all further requests get the last
 * one.
 */
function clientOf(replies: readonly Reply[], options = {}) {
  sent = [];
  const answer: typeof fetch = async (url, { method = "", headers, body, redirect } = {}) => {
    expect(redirect).toBe("manual");
    sent.push({
      method,
      url: new Request(url).url,
      headers: Object.fromEntries(new Headers(headers)),
      body: typeof body === "string" ? (JSON.parse(body) as unknown) : undefined,
    });
    const reply = replies[Math.min(sent.length, replies.length) - 1];
    return await Promise.resolve((reply ?? lost)());
  };
  return createClient({
    baseUrl: "http://postrider.test/",
    apiKey: "key",
    fetch: answer,
    ...options,
  });
}

test.each([".", ".."])("the id %j is refused before a request is sent", async (id) => {
  const client = clientOf([]);
  await expect(client.deletePost(id)).rejects.toThrow("the argument {id} is not an id");
  await expect(client.listComments("a", id)).rejects.toThrow("the argument {mediaId}");
  expect(sent).toEqual([]);
});

/**
 * Advances the timers until the call ends; returns its result or error, and how long the client
 * waited.
 */
async function settle(call: Promise<unknown>) {
  const startedAt = Date.now();
  const result = call.catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return { result: await result, waitedMs: Date.now() - startedAt };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("requests:", () => {
  test("without a key no authorization is sent, so that the cookie of a session counts", async () => {
    const client = clientOf([json(200, {})], { apiKey: null });
    await client.listPosts();
    expect(sent[0]?.headers).toEqual({});
  });

  test("the client sends the ids in the path, the query, the key and the workspace", async () => {
    const client = clientOf([json(200, {})], { workspaceId: "w" });
    await client.listComments("a/b", "3?", { limit: 5, cursor: undefined } as never);
    await client.updatePost(
      "p",
      { content: "New" },
      { ifMatch: '"1"', headers: { "x-trace": "t" } },
    );
    expect(sent).toEqual([
      {
        method: "GET",
        url: "http://postrider.test/api/v1/accounts/a%2Fb/media/3%3F/comments?limit=5",
        headers: { authorization: "Bearer key", "x-workspace-id": "w" },
        body: undefined,
      },
      {
        method: "PATCH",
        url: "http://postrider.test/api/v1/posts/p",
        headers: {
          authorization: "Bearer key",
          "content-type": "application/json",
          "if-match": '"1"',
          "x-trace": "t",
          "x-workspace-id": "w",
        },
        body: { content: "New" },
      },
    ]);
  });

  test("the client leaves out the fields of a post that are null, but not in other operations", async () => {
    const client = clientOf([json(200, {})]);
    const empty = { mediaIds: null, options: { x: { title: null, content: "a" }, y: null } };
    const body = { ...empty, content: "Hello" } as never;
    await client.createPost(body);
    await client.validatePost(body);
    await client.updatePost("p", body);
    const filled = { content: "Hello", options: { x: { content: "a" } } };
    expect(sent.map((request) => request.body)).toEqual([filled, filled, filled]);
    await client.updateMedia("m", { altText: null });
    expect(sent.at(-1)?.body).toEqual({ altText: null });
  });

  test.each([
    ["scheduledAt", null],
    ["scheduledAt", undefined],
    ["scheduledAt", ""],
    ["scheduledAt", new Date(Number.NaN)],
    ["queueSlot", null],
    ["queueSlot", undefined],
    ["isDraft", null],
    ["isDraft", undefined],
  ])(
    "an empty %s (%j) reaches the server, which would publish at once without it",
    async (name, value) => {
      const client = clientOf([json(400, {})]);
      const body = { ...POST, [name]: value } as never;
      const expected = { ...POST, [name]: value === "" ? "" : null };
      await expect(client.createPost(body)).rejects.toThrow(PostriderError);
      await expect(client.validatePost(body)).rejects.toThrow(PostriderError);
      await expect(client.updatePost("p", body)).rejects.toThrow(PostriderError);
      expect(sent.map((request) => request.body)).toEqual([expected, expected, expected]);
    },
  );

  test("the client refuses a missing id, with which the path would be that of another operation", async () => {
    const client = clientOf([json(200, {})]);
    await expect(client.deletePost("")).rejects.toThrow("the argument {id} is missing");
    expect(sent).toEqual([]);
  });

  test("the client returns undefined for an answer without a body, whose headers can still be read", async () => {
    const headers = { "x-provider-revocation": "unconfirmed" };
    const client = clientOf([() => new Response(null, { status: 204, headers })]);
    let revocation: string | null = null;
    const onResponse = (response: Response): void => {
      revocation = response.headers.get("x-provider-revocation");
    };
    expect(await client.disconnectAccount("a", {}, { onResponse })).toBeUndefined();
    expect(revocation).toBe("unconfirmed");
  });

  test("an iterator over a list reads the next page only when it is needed, with the filters of the first page", async () => {
    const client = clientOf([
      json(200, { posts: [{ id: "1" }, { id: "2" }], nextCursor: "next" }),
      json(200, { posts: [], nextCursor: "last" }),
      json(200, { posts: [{ id: "3" }], nextCursor: null }),
    ]);
    const posts = client.iteratePosts({ status: "failed" });
    expect((await posts.next()).value?.id).toBe("1");
    expect(sent).toHaveLength(1);
    const rest = [];
    for await (const { id } of posts) rest.push(id);
    expect(rest).toEqual(["2", "3"]);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      "?status=failed",
      "?status=failed&cursor=next",
      "?status=failed&cursor=last",
    ]);
  });
});

describe("repetitions:", () => {
  test("a POST that accepts an idempotency key is repeated with the same key until it is answered", async () => {
    const client = clientOf([lost, refusal(503, "unavailable"), json(202, { id: "p" })]);
    const { result } = await settle(client.createPost(POST));
    expect(result).toEqual({ id: "p" });
    const keys = sent.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    await settle(client.createPost(POST));
    expect(sent.at(-1)?.headers["idempotency-key"]).not.toBe(keys[0]);
  });

  test("the client sends the idempotency key of the caller, and none where the API accepts none", async () => {
    const client = clientOf([json(202, {})]);
    await client.createPost(POST, { idempotencyKey: "mine" });
    await client.retryPost("p", {}, { idempotencyKey: "mine" });
    expect(sent.map(({ headers }) => headers["idempotency-key"])).toEqual(["mine", undefined]);
  });

  test.each([
    ["publishPost", lost, "PostriderConnectionError"],
    ["retryPost", refusal(503, "unavailable", { "retry-after": "1" }), "PostriderError"],
    ["deletePost", refusal(504, "upstream_timeout"), "PostriderError"],
    ["revokeWebhook", lost, "PostriderConnectionError"],
  ] as const)(
    "%s, which has an effect each time, is not repeated when it is unknown whether the first request was carried out",
    async (operation, reply, name) => {
      const { result } = await settle(clientOf([reply, json(202, {})])[operation]("p"));
      expect(result).toMatchObject({ name });
      expect(sent).toHaveLength(1);
    },
  );

  test.each([
    ["PATCH", (client) => client.updatePost("p", { content: "New" })],
    ["DELETE", (client) => client.deletePost("p")],
    ["POST without a key", (client) => client.publishPost("p")],
  ] as const satisfies readonly [string, (client: Client) => Promise<unknown>][])(
    "a %s is repeated when the answer says that nothing of it was done",
    async (_what, call) => {
      const headers = { "retry-after": "1", "x-postrider-carried-out": "no" };
      const replies = [refusal(503, "unavailable", headers), json(202, { id: "p" })];
      expect((await settle(call(clientOf(replies)))).result).toEqual({ id: "p" });
      expect(sent).toHaveLength(2);
    },
  );

  test("every request that the rate limit refuses is repeated after the time that the refusal asks for", async () => {
    const limit = refusal(429, "rate_limited", { "retry-after": "7" });
    const { result, waitedMs } = await settle(
      clientOf([limit, json(202, { id: "p" })]).publishPost("p"),
    );
    expect(result).toEqual({ id: "p" });
    expect(waitedMs).toBeGreaterThanOrEqual(7_000);
    expect(waitedMs).toBeLessThan(7_200);
  });

  test("a refusal that asks the client to wait for more than a minute makes the call fail immediately", async () => {
    const limit = refusal(429, "rate_limited", { "retry-after": "61" });
    const { result, waitedMs } = await settle(clientOf([limit, json(200, {})]).getQuota());
    expect(result).toMatchObject({ code: "rate_limited", retryAfterSeconds: 61 });
    expect(waitedMs).toBe(0);
  });

  test("the client waits until the date in the header Retry-After", async () => {
    vi.setSystemTime("2026-11-23T12:00:00.000Z");
    const headers = { "retry-after": "Mon, 23 Nov 2026 12:00:03 GMT" };
    const replies = [refusal(503, "unavailable", headers), json(200, {})];
    const { waitedMs } = await settle(clientOf(replies).getQuota());
    expect(waitedMs).toBeGreaterThanOrEqual(3_000);
    expect(waitedMs).toBeLessThan(3_200);
  });

  test("a POST whose idempotency key an earlier request still uses is repeated until it gets the answer to that request", async () => {
    const conflict = refusal(409, "idempotency_conflict", { "retry-after": "1" });
    const { result } = await settle(clientOf([conflict, json(202, { id: "p" })]).createPost(POST));
    expect(result).toEqual({ id: "p" });
  });

  test.each([
    [409, "duplicate_content"],
    [422, "validation_failed"],
    [500, "internal"],
  ])(
    "a request that is refused with status %i and code %s is not repeated",
    async (status, code) => {
      const { result } = await settle(clientOf([refusal(status, code)]).createPost(POST));
      expect(result).toMatchObject({ status, code });
      expect(sent).toHaveLength(1);
    },
  );

  test("the client gives up after four repetitions, and its error names the cause and has the idempotency key for another try", async () => {
    const { result, waitedMs } = await settle(clientOf([lost]).createPost(POST));
    expect(sent).toHaveLength(5);
    expect(waitedMs).toBeLessThan(5_000);
    expect(result).toBeInstanceOf(PostriderConnectionError);
    expect(result).toMatchObject({
      message: "no answer to POST /posts: fetch failed (UND_ERR_SOCKET)",
      idempotencyKey: sent[0]?.headers["idempotency-key"],
    });
  });

  test.each([
    [401, "unauthenticated", {}],
    [403, "workspace_forbidden", {}],
    [429, "rate_limited", { "retry-after": "61" }],
  ])(
    "a refusal with status %i and code %s after a request without an answer has the idempotency key, because the first one may have been carried out",
    async (status, code, headers) => {
      const client = clientOf([lost, refusal(status, code, headers)]);
      const { result } = await settle(client.createPost(POST));
      expect(sent).toHaveLength(2);
      const idempotencyKey = sent[0]?.headers["idempotency-key"];
      expect(result).toMatchObject({ status, code, idempotencyKey });
    },
  );

  test("an error has the idempotency key when the server failed, and not when the first request was refused", async () => {
    const keyOf = async (reply: Reply) =>
      (await settle(clientOf([reply]).createPost(POST, { idempotencyKey: "mine" }))).result;
    expect(await keyOf(refusal(500, "internal"))).toMatchObject({ idempotencyKey: "mine" });
    expect(await keyOf(refusal(504, "upstream_timeout"))).toMatchObject({ idempotencyKey: "mine" });
    expect(await keyOf(refusal(422, "validation_failed"))).toMatchObject({
      idempotencyKey: undefined,
    });
    const shed = refusal(503, "unavailable", { "x-postrider-carried-out": "no" });
    expect(await keyOf(shed)).toMatchObject({ isNotCarriedOut: true, idempotencyKey: undefined });
  });

  test.each(["a request", "the wait before a repetition"])(
    "a computer that sleeps for days during %s does not repeat a POST whose idempotency key the server has forgotten",
    async (phase) => {
      const sleep = () => vi.setSystemTime(Date.now() + 23 * 3_600_000 + 1);
      const replies = [lost, json(202, { id: "second post" })];
      const asleep: Reply = () => (sleep(), lost());
      const client = clientOf(phase === "a request" ? [asleep, ...replies] : replies);
      const call = client.createPost(POST).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(0);
      if (phase !== "a request") sleep();
      await vi.runAllTimersAsync();
      const result = await call;
      expect(sent).toHaveLength(1);
      expect(result).toBeInstanceOf(PostriderConnectionError);
      expect(result).toMatchObject({ idempotencyKey: undefined });
    },
  );

  test("a computer that sleeps for days repeats a read afterwards", async () => {
    const asleep: Reply = () => (vi.setSystemTime(Date.now() + 72 * 3_600_000), lost());
    const { result } = await settle(clientOf([asleep, json(200, { daily: [] })]).getQuota());
    expect(result).toEqual({ daily: [] });
  });

  test("aborting the signal of a call ends the wait before a repetition", async () => {
    const controller = new AbortController();
    const reason = new Error("the page was closed");
    const { signal } = controller;
    const call = clientOf([refusal(429, "rate_limited", { "retry-after": "60" })]).getQuota(
      {},
      { signal },
    );
    const result = call.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    controller.abort(reason);
    expect(await result).toBe(reason);
    expect(sent).toHaveLength(1);
  });

  test("a request without an answer within the time limit fails like one whose connection broke", async () => {
    const hanging: typeof fetch = (_url, { signal } = {}) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
      });
    const client = clientOf([], { fetch: hanging, timeoutMs: 1, maxRetries: 0 });
    await expect(client.getQuota()).rejects.toThrow("no answer to GET /quota: ");
  });
});

describe("cells:", () => {
  const US1 = "http://us1.test";
  const toUs1 = elsewhere(US1);
  const urls = () => sent.map(({ url }) => url.replace("/api/v1/quota", ""));

  test("the error for a key of another cell has the address of that cell, to which nothing is sent", async () => {
    const { result } = await settle(clientOf([toUs1]).getQuota());
    expect(result).toMatchObject({ code: "wrong_cell", status: 421, cellAddress: US1 });
    expect(sent).toHaveLength(1);
  });

  test("with followCells, a call is sent once more, to the cell of the key, and further calls go there at once", async () => {
    const client = clientOf([toUs1, json(200, {})], { followCells: true });
    await settle(client.getQuota());
    await settle(client.getQuota());
    expect(urls()).toEqual(["http://postrider.test", US1, US1]);
    await settle(client.createPost(POST));
    expect(sent.at(-1)).toMatchObject({ url: `${US1}/api/v1/posts`, body: POST });
  });

  test("with followCells, a call has the same idempotency key in both cells", async () => {
    const client = clientOf([toUs1, json(200, {})], { followCells: true });
    await settle(client.createPost(POST));
    const keys = sent.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test("with followCells, a call for one workspace of a key leaves those for another where they are", async () => {
    const client = clientOf([toUs1, json(200, {})], { followCells: true, workspaceId: "stays" });
    const moved = { workspaceId: "moved" };
    await settle(client.getQuota({}, moved));
    await settle(client.getQuota());
    await settle(client.getQuota({}, moved));
    expect(urls()).toEqual(["http://postrider.test", US1, "http://postrider.test", US1]);
  });

  test("with followCells, a call fails when the other cell has not its key either", async () => {
    const replies = [toUs1, elsewhere("http://eu1.test")];
    const client = clientOf(replies, { followCells: true });
    const { result } = await settle(client.getQuota());
    expect(result).toMatchObject({ code: "wrong_cell", cellAddress: "http://eu1.test" });
    expect(urls()).toEqual(["http://postrider.test", US1]);
  });

  test("with followCells, no key leaves https", async () => {
    const options = { followCells: true, baseUrl: "https://postrider.test" };
    const { result } = await settle(clientOf([toUs1], options).getQuota());
    expect(result).toMatchObject({ code: "wrong_cell" });
    expect(sent).toHaveLength(1);
  });
});

describe("errors:", () => {
  test("a read with If-None-Match of an unchanged object throws the code not_modified", async () => {
    const client = clientOf([() => new Response(null, { status: 304 })]);
    const headers = { "if-none-match": '"1"' };
    await expect(client.getPost("p", {}, { headers })).rejects.toMatchObject({
      code: "not_modified",
      status: 304,
    });
  });

  test("an error of the client has the code, status, details and request id of the answer", async () => {
    const details = [{ code: "content_too_long", message: "Too long.", limit: 300, actual: 400 }];
    const body = {
      error: { code: "validation_failed", message: "A platform refuses it.", details },
    };
    const { result } = await settle(
      clientOf([json(422, body, { "x-request-id": "r" })]).createPost(POST),
    );
    expect(result).toBeInstanceOf(PostriderError);
    expect(result).toMatchObject({
      name: "PostriderError",
      message: "A platform refuses it.",
      code: "validation_failed",
      status: 422,
      details,
      requestId: "r",
      retryAfterSeconds: null,
    });
  });

  test.each([
    ["a redirect", 301, ""],
    ["the page of a proxy", 404, "<html></html>"],
    ["a page instead of JSON", 200, "<html></html>"],
    ["JSON of another kind", 400, '{"error": "no"}'],
    ["JSON that is null", 400, "null"],
  ])(
    "the client throws unexpected_answer for an answer that Postrider did not write: %s",
    async (_, status, text) => {
      const client = clientOf([() => new Response(text, { status })]);
      const { result } = await settle(client.createPost(POST));
      expect(result).toMatchObject({ code: "unexpected_answer", status, details: [] });
    },
  );
});
