import { request } from "node:http";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSystem, type System } from "./support/system.ts";

let system: System;
beforeAll(async () => {
  system = await startSystem("postgres");
});
afterAll(() => system[Symbol.asyncDispose]());

/** One that takes a text without media. */
function textAccount(): string {
  return system.local().accounts.find(({ platform }) => platform === "x")?.id ?? "";
}

interface Refusal {
  readonly status: number;
  readonly code: string;
}

/** Sends raw bytes: `fetch` would mend some of what these tests break. */
async function send(
  method: string,
  path: string,
  options: {
    readonly key?: string;
    readonly body?: Buffer | string;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Refusal> {
  const { promise, resolve, reject } = Promise.withResolvers<Refusal>();
  const call = request(`${system.local().baseUrl}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${options.key ?? system.local().apiKey}`,
      "content-type": "application/json",
      ...options.headers,
    },
  });
  call.on("response", (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as {
        error?: { code?: string };
      };
      resolve({ status: response.statusCode ?? 0, code: body.error?.code ?? "" });
    });
  });
  call.on("error", reject);
  call.end(options.body);
  return await promise;
}

async function countPosts(): Promise<number> {
  const [row] = await system.sql<
    { count: number }[]
  >`select count(*)::int as count from posts.posts`;
  return row?.count ?? -1;
}

const UNKNOWN_ID = "01936a5e-0000-7000-8000-000000000000";

describe("bad input gets the right code and stores nothing:", () => {
  test.each<[string, string | Buffer, number, string]>([
    ["malformed JSON", "{", 400, "invalid_request"],
    [
      "invalid UTF-8",
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      400,
      "invalid_request",
    ],
    [
      "an unknown field",
      JSON.stringify({ content: "x", accountIds: [UNKNOWN_ID], surprise: 1 }),
      400,
      "invalid_request",
    ],
    ["a wrong type", JSON.stringify({ content: 7, accountIds: "all" }), 400, "invalid_request"],
    [
      "NUL in the text",
      JSON.stringify({ content: "a\u0000b", accountIds: [UNKNOWN_ID] }),
      400,
      "invalid_request",
    ],
    ["half a surrogate pair", '{"content":"\\ud800","accountIds":[]}', 400, "invalid_request"],
    ["no accounts", JSON.stringify({ content: "x", accountIds: [] }), 400, "invalid_request"],
    [
      "capitals in an id",
      JSON.stringify({ content: "x", accountIds: [UNKNOWN_ID.toUpperCase()] }),
      400,
      "invalid_request",
    ],
    ["a list for a body", "[]", 400, "invalid_request"],
    [
      "a body of 2 MiB",
      JSON.stringify({ content: "x".repeat(2 * 1024 * 1024), accountIds: [UNKNOWN_ID] }),
      413,
      "payload_too_large",
    ],
    [
      "content over 256 KiB",
      JSON.stringify({ content: "x".repeat(300 * 1024), accountIds: [UNKNOWN_ID] }),
      413,
      "payload_too_large",
    ],
    [
      "an account nobody has",
      JSON.stringify({ content: "x", accountIds: [UNKNOWN_ID] }),
      422,
      "validation_failed",
    ],
    [
      "media nobody has",
      JSON.stringify({ content: "x", accountIds: [UNKNOWN_ID], mediaIds: [UNKNOWN_ID] }),
      422,
      "validation_failed",
    ],
  ])("%s", async (_name, body, status, code) => {
    const before = await countPosts();
    expect(await send("POST", "/posts", { body })).toEqual({ status, code });
    expect(await countPosts()).toBe(before);
  });

  test("another media type is 415, another method 405, another path 404", async () => {
    expect(
      await send("POST", "/posts", {
        body: "a=1",
        headers: { "content-type": "application/x-www-form-urlencoded" },
      }),
    ).toEqual({ status: 415, code: "unsupported_media_type" });
    expect(await send("PUT", "/posts")).toEqual({ status: 405, code: "method_not_allowed" });
    expect(await send("GET", "/nothing")).toEqual({ status: 404, code: "not_found" });
    expect(await send("GET", "/posts?limit=1&limit=2")).toEqual({
      status: 400,
      code: "invalid_request",
    });
    expect(await send("GET", "/posts?sort=asc")).toEqual({ status: 400, code: "invalid_request" });
  });
});

describe("keys and workspaces:", () => {
  test("a bad key is 401, whatever is wrong with it", async () => {
    const { apiKey } = system.local();
    const flipped = `${apiKey.slice(0, -1)}${apiKey.endsWith("0") ? "1" : "0"}`;
    for (const key of ["", "pr_live_", flipped, "x".repeat(5000)]) {
      expect(await send("GET", "/accounts", { key })).toEqual({
        status: 401,
        code: "unauthenticated",
      });
    }
  });

  test("another workspace's post and accounts are as if they did not exist", async () => {
    const mine = system.local();
    const post = await system.api.createPost("mine", [textAccount()]);
    const other = await system.operate<{ id: string }>(
      "workspace",
      "create",
      "--name",
      "other",
      "--verified",
    );
    const { key } = await system.operate<{ key: string }>(
      "key",
      "create",
      "--name",
      "k",
      "--workspace",
      other.id,
      "--scopes",
      "all",
    );
    expect(await send("GET", `/posts/${post.id}`, { key })).toEqual({
      status: 404,
      code: "not_found",
    });
    const body = JSON.stringify({ content: "theirs", accountIds: [textAccount()] });
    expect(await send("POST", "/posts", { key, body })).toEqual({
      status: 422,
      code: "validation_failed",
    });
    expect(
      await send("GET", "/accounts", { key, headers: { "x-workspace-id": mine.workspaceId } }),
    ).toEqual({ status: 403, code: "workspace_forbidden" });
  });

  test("a key without the scope is 403, an unverified workspace may read and not write", async () => {
    const workspace = await system.operate<{ id: string }>(
      "workspace",
      "create",
      "--name",
      "unverified",
    );
    const reader = await system.operate<{ key: string }>(
      "key",
      "create",
      "--name",
      "r",
      "--workspace",
      workspace.id,
      "--scopes",
      "posts:read",
    );
    const writer = await system.operate<{ key: string }>(
      "key",
      "create",
      "--name",
      "w",
      "--workspace",
      workspace.id,
      "--scopes",
      "posts:read,posts:write",
    );
    const body = JSON.stringify({ content: "x", accountIds: [UNKNOWN_ID] });
    expect(await send("POST", "/posts", { key: reader.key, body })).toEqual({
      status: 403,
      code: "insufficient_scope",
    });
    expect(await send("POST", "/posts", { key: writer.key, body })).toEqual({
      status: 403,
      code: "verification_required",
    });
    const answer = await fetch(`${system.local().baseUrl}/api/v1/posts`, {
      headers: { authorization: `Bearer ${writer.key}` },
    });
    expect(answer.status).toBe(200);
  });

  test("a revoked key stops working within 5 s", async () => {
    const { workspaceId } = system.local();
    const { id, key } = await system.operate<{ id: string; key: string }>(
      "key",
      "create",
      "--name",
      "short",
      "--workspace",
      workspaceId,
      "--scopes",
      "all",
    );
    // Each gateway remembers keys for itself.
    const statuses = async () =>
      await Promise.all(
        system.local().services.gateway.map(async ({ url }) => {
          const headers = { authorization: `Bearer ${key}` };
          return (await fetch(`${url}/api/v1/accounts`, { headers })).status;
        }),
      );
    expect(new Set(await statuses())).toEqual(new Set([200]));
    await system.operate("key", "revoke", id);
    await eventually(async () => (await statuses()).every((status) => status === 401), {
      timeoutMs: 5000,
    });
  });

  test("the budget of a workspace is never passed, and 429 says when to come back", async () => {
    const workspace = await system.operate<{ id: string }>(
      "workspace",
      "create",
      "--name",
      "busy",
      "--verified",
    );
    await system.operate("workspace", "set-limits", workspace.id, "--requests-per-minute", "60");
    const { key } = await system.operate<{ key: string }>(
      "key",
      "create",
      "--name",
      "b",
      "--workspace",
      workspace.id,
      "--scopes",
      "all",
    );
    const startedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 120 }, () =>
        fetch(`${system.local().baseUrl}/api/v1/accounts`, {
          headers: { authorization: `Bearer ${key}` },
        }),
      ),
    );
    const seconds = (performance.now() - startedAt) / 1000;
    const accepted = answers.filter(({ status }) => status === 200).length;
    expect(accepted).toBeLessThanOrEqual(60 + Math.ceil(seconds));
    expect(accepted).toBeGreaterThanOrEqual(57);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(refused?.headers.get("ratelimit-policy")).toContain("q=60");
  });
});

test("nothing secret is in any log", async () => {
  const canary = "canary-text-nobody-may-log";
  await system.api.createPost(canary, [textAccount()]);
  await send("POST", "/posts", {
    body: `{"content": "${canary}"`,
    headers: { "x-request-id": "seen-in-the-log" },
  });
  // The line of the last request is written after its answer.
  await eventually(() => system.logs().includes("seen-in-the-log"));
  const logs = system.logs();
  const secrets = [system.local().apiKey, canary, ...(await system.simulator.secrets())];
  for (const secret of secrets) {
    expect(logs.includes(secret), `a log holds ${secret.slice(0, 12)}…`).toBe(false);
  }
});
