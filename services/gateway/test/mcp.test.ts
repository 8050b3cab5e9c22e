import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ServiceError } from "@postrider/shared/errors";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import {
  ACCOUNT_ID,
  admitted,
  createTestServer,
  POST,
  POST_ID,
  type Peers,
  postOf,
} from "./fixture.ts";

const NAMES = [
  "list_accounts",
  "get_posting_rules",
  "get_queue_and_quota",
  "validate_post",
  "create_post",
  "update_post",
  "cancel_post",
  "list_posts",
  "get_post",
  "retry_failed_targets",
  "add_media_from_url",
  "list_comments",
  "reply_to_comment",
  "get_metrics",
];

let posts: NonNullable<Peers["posts"]> = {};
let admission: AdmissionResult = admitted();
let admissions = 0;

const app = await createTestServer(
  {
    posts: {
      createPost: (...call) => posts.createPost?.(...call) ?? {},
      batchGetPosts: (...call) => posts.batchGetPosts?.(...call) ?? {},
      publishPost: (...call) => posts.publishPost?.(...call) ?? {},
      updatePost: (...call) => posts.updatePost?.(...call) ?? {},
      deletePost: (...call) => posts.deletePost?.(...call) ?? {},
    },
    accounts: { listAccounts: () => ({ accounts: [] }) },
    publicUrl: "http://127.0.0.1:1",
  },
  () => {
    admissions += 1;
    return admission;
  },
);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => app.close());
beforeEach(() => {
  posts = {};
  admission = admitted();
  admissions = 0;
});

type Era = "modern" | "legacy";

async function connect(era: Era): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  );
  const headers = { authorization: "Bearer key" };
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }),
  );
  return client;
}

async function call(client: Client, name: string, input: Record<string, unknown> = {}) {
  return await client.callTool({ name, arguments: input });
}

test.each<Era>(["modern", "legacy"])(
  "an agent with a %s protocol version finds the MCP tools with their schemas and hints",
  async (era) => {
    const client = await connect(era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted());
    for (const tool of tools) {
      expect(tool.outputSchema).toMatchObject({ type: "object" });
      expect(tool.annotations?.readOnlyHint).toBeTypeOf("boolean");
      expect(tool.description?.length).toBeGreaterThan(40);
    }
    await client.close();
  },
);

test.each<Era>(["modern", "legacy"])(
  "the result of an MCP tool is the answer of the operation that it calls, as JSON and as text, in a %s protocol version",
  async (era) => {
    posts = { batchGetPosts: () => ({ posts: [POST] }) };
    const client = await connect(era);
    const result = await call(client, "get_post", { postId: POST_ID });
    expect(result.isError).not.toBe(true);
    expect(result.structuredContent).toMatchObject({ id: POST_ID, status: "published" });
    expect(result.content).toEqual([
      { type: "text", text: JSON.stringify(result.structuredContent) },
    ]);
    await client.close();
  },
);

test("no schema of an MCP tool contains a list of types, because some agents refuse them", async () => {
  const client = await connect("modern");
  const { tools } = await client.listTools();
  for (const tool of tools) expect(JSON.stringify(tool)).not.toContain('"type":[');
  await client.close();
});

test("the list of MCP tools is shorter than 20 kB, and the schema of each result names the fields that the result has", async () => {
  const client = await connect("modern");
  const { tools } = await client.listTools();
  expect(JSON.stringify(tools).length).toBeLessThan(20_000);
  const fieldsOf = (name: string) => tools.find((tool) => tool.name === name)?.outputSchema;
  for (const { name, outputSchema } of tools)
    expect([name, Object.keys(outputSchema?.properties ?? {}).length]).not.toEqual([name, 0]);
  expect(fieldsOf("list_accounts")).toMatchObject({
    properties: {
      accounts: {
        type: "array",
        items: { properties: { id: { type: "string" }, platform: { type: "string" } } },
      },
    },
  });
  expect(fieldsOf("get_post")).toMatchObject({
    type: "object",
    properties: {
      status: { type: "string", enum: expect.arrayContaining(["draft", "partial"]) as string[] },
      targets: { items: { properties: { accountId: { type: "string" }, status: {} } } },
    },
  });
  await client.close();
});

test("only the MCP tools that overwrite or delete something are marked as destructive", async () => {
  const client = await connect("modern");
  const { tools } = await client.listTools();
  const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint !== false);
  expect(destructive.map(({ name }) => name)).toEqual(["update_post", "cancel_post"]);
  await client.close();
});

test.each([
  ["accountId", "use accountIds"],
  ["acountIds", "use accountIds"],
  ["colour", "the arguments are content, accountIds"],
])("an MCP tool that is called with the unknown argument %s says: %s", async (name, advice) => {
  const client = await connect("modern");
  const result = await call(client, "create_post", { content: "Hello", [name]: [ACCOUNT_ID] });
  expect(result.isError).toBe(true);
  const text = JSON.stringify(result.content);
  expect(text).toContain(`there is no argument \\"${name}\\"`);
  expect(text).toContain(advice);
  await client.close();
});

test.each([
  ["list_posts", { limit: "5" }, 'limit is "5"; send an integer from 1 to 100'],
  ["list_posts", { status: null }, "status is null; send one of draft, scheduled, publishing"],
  ["list_posts", { status: null }, ", or leave it out"],
  ["validate_post", { content: "a", accountIds: "x" }, 'accountIds is "x"; send a list, each'],
  ["validate_post", { accountIds: [ACCOUNT_ID] }, "content is missing; send a string"],
])(
  "the refusal of %s with %j says what was sent and what to send: %s",
  async (name, input, advice) => {
    const client = await connect("modern");
    const result = await call(client, name, input);
    expect(result.isError).toBe(true);
    expect((result.content as readonly { text: string }[])[0]?.text).toContain(advice);
    await client.close();
  },
);

test.each([".", ".."])(
  "an MCP tool refuses the id %j, which would lead to another operation",
  async (id) => {
    admission = admitted({ scopes: new Set(["comments:read", "comments:write", "posts:write"]) });
    const client = await connect("modern");
    const comment = { accountId: ACCOUNT_ID, mediaId: id };
    const reply = { ...comment, commentId: id, text: "a", idempotencyKey: "k" };
    for (const [name, input] of [
      ["list_comments", comment],
      ["reply_to_comment", reply],
      ["cancel_post", { postId: id }],
    ] as const) {
      const result = await call(client, name, input);
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toMatch(/not_found|format/);
    }
    await client.close();
  },
);

test("cancel_post answers that a draft or scheduled post is cancelled, in the form of its output schema", async () => {
  posts = { deletePost: () => ({}) };
  const client = await connect("modern");
  const result = await call(client, "cancel_post", { postId: POST_ID });
  expect(result).toMatchObject({
    structuredContent: { id: POST_ID, status: "cancelled", targets: [] },
  });
  expect(result.isError).not.toBe(true);
  await client.close();
});

test("an agent can post the same content again with force, in create_post and in update_post", async () => {
  const forced: unknown[] = [];
  posts = {
    createPost: ({ force }) => (forced.push(force), { post: POST }),
    publishPost: ({ force }) => (forced.push(force), { post: POST }),
  };
  const client = await connect("modern");
  await call(client, "create_post", { ...NEW, when: "now" });
  await call(client, "create_post", { ...NEW, when: "now", force: true });
  await call(client, "update_post", { postId: POST_ID, publishNow: true, force: true });
  expect(forced).toEqual([false, true, true]);
  const { tools } = await client.listTools();
  const force = tools.find(({ name }) => name === "create_post")?.inputSchema.properties?.["force"];
  expect(JSON.stringify(force)).toContain("A person decides this");
  await client.close();
});

const NEW = { content: "Hello", accountIds: [ACCOUNT_ID], idempotencyKey: "k" };

test("create_post creates a draft unless the agent says when to publish, and records that an agent created it", async () => {
  const seen: unknown[] = [];
  posts = {
    createPost: (request) => {
      seen.push(request);
      return {
        post: postOf({ status: "draft", scheduledAt: "2026-12-24T18:00:00.000Z" }),
      };
    },
  };
  const client = await connect("modern");
  const result = await call(client, "create_post", { ...NEW, timezone: "Europe/Berlin" });
  await call(client, "create_post", { ...NEW, when: "queue" });
  await call(client, "create_post", { ...NEW, when: "now" });
  expect(seen).toMatchObject([
    { isDraft: true, createdVia: "mcp", idempotency: { key: "k" } },
    { isDraft: false, queueSlot: true, createdVia: "mcp" },
    { isDraft: false, queueSlot: false, createdVia: "mcp" },
  ]);
  expect(result.structuredContent).toMatchObject({
    post: { id: POST_ID },
    scheduledAtInZone: expect.stringMatching(/^Thursday.* 2026 at \d\d:00:00/) as string,
  });
  await client.close();
});

const TIME = "2026-12-24T18:00:00+01:00";

test.each([
  ["create_post", { when: "scheduled" }, "when: scheduled needs scheduledAt"],
  ["create_post", { scheduledAt: TIME }, "scheduledAt needs when: send when: scheduled"],
  ["create_post", { when: "now", scheduledAt: TIME }, 'when: \\"now\\" contradicts scheduledAt'],
  [
    "create_post",
    { when: "queue", scheduledAt: TIME },
    'when: \\"queue\\" contradicts scheduledAt',
  ],
  ["update_post", { publishNow: true, scheduledAt: TIME }, "publishNow contradicts scheduledAt"],
] as const)(
  "%s refuses %j, which it could only carry out by ignoring a part of it, and no service is called",
  async (name, more, message) => {
    const client = await connect("modern");
    const input = name === "create_post" ? { ...NEW, ...more } : { postId: POST_ID, ...more };
    const called: string[] = [];
    posts = {
      createPost: () => (called.push("create"), { post: POST }),
      updatePost: () => (called.push("update"), { post: POST }),
      publishPost: () => (called.push("publish"), { post: POST }),
    };
    const result = await call(client, name, input);
    expect([result.isError, called]).toEqual([true, []]);
    expect(JSON.stringify(result.content)).toContain(message);
    await client.close();
  },
);

test("create_post keeps the time of a draft, and passes that of a scheduled post", async () => {
  const seen: unknown[] = [];
  posts = {
    createPost: ({ isDraft, scheduledAt }) => (
      seen.push([isDraft, scheduledAt?.seconds]),
      { post: POST }
    ),
  };
  const client = await connect("modern");
  await call(client, "create_post", { ...NEW, when: "draft", scheduledAt: TIME });
  await call(client, "create_post", { ...NEW, when: "scheduled", scheduledAt: TIME });
  const seconds = BigInt(Date.parse(TIME) / 1000);
  expect(seen).toEqual([
    [true, seconds],
    [false, seconds],
  ]);
  await client.close();
});

test.each([
  ["create_post", { when: "scheduled", scheduledAt: null }],
  ["create_post", { when: "now", scheduledAt: 5 }],
  ["create_post", { when: "later", scheduledAt: TIME }],
  ["update_post", { publishNow: true, scheduledAt: null }],
] as const)(
  "the refusal of %s with %j does not advise to leave out what says when a post is published",
  async (name, more) => {
    const client = await connect("modern");
    const input = name === "create_post" ? { ...NEW, ...more } : { postId: POST_ID, ...more };
    const result = await call(client, name, input);
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).not.toContain("leave it out");
    await client.close();
  },
);

test("update_post with publishNow first changes the post and then publishes the version that it made", async () => {
  const calls: unknown[] = [];
  const answer =
    (name: string) =>
    ({ ifVersion }: { readonly ifVersion?: bigint | undefined }) => {
      calls.push([name, ifVersion]);
      return { post: POST };
    };
  posts = { updatePost: answer("update"), publishPost: answer("publish") };
  const client = await connect("modern");
  await call(client, "update_post", { postId: POST_ID, content: "b", publishNow: true });
  await call(client, "update_post", { postId: POST_ID, publishNow: true });
  expect(calls).toEqual([
    ["update", undefined],
    ["publish", POST.version],
    ["publish", undefined],
  ]);
  await client.close();
});

test("the result of an MCP tool whose operation fails names the field, the limit and what to do", async () => {
  posts = {
    createPost: () => {
      throw new ServiceError("unprocessable", "validation_failed", [
        { code: "content_too_long", path: "/content", platform: "x", limit: 280, actual: 300 },
      ]);
    },
  };
  const client = await connect("modern");
  const result = await call(client, "create_post", NEW);
  expect(result.isError).toBe(true);
  const [content] = result.content as { text: string }[];
  expect(JSON.parse(content?.text ?? "")).toMatchObject({
    status: 422,
    error: { details: [{ path: "/content", limit: 280, actual: 300, unit: "characters" }] },
  });
  await client.close();
});

test("an MCP tool needs the scope of the operation that it calls", async () => {
  admission = admitted({ scopes: new Set(["accounts:read"]) });
  const client = await connect("modern");
  expect((await call(client, "list_accounts")).isError).not.toBe(true);
  const refused = await call(client, "create_post", NEW);
  expect(refused.isError).toBe(true);
  expect(JSON.stringify(refused.content)).toContain("insufficient_scope");
  await client.close();
});

test("one call of an MCP tool counts as one request towards the rate limit", async () => {
  posts = { batchGetPosts: () => ({ posts: [POST] }) };
  const client = await connect("modern");
  const before = admissions;
  await call(client, "get_post", { postId: POST_ID });
  expect(admissions - before).toBe(1);
  await client.close();
});

test("POST /mcp answers 401 without a valid API key, and refuses requests of web pages of another origin", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  const send = (headers: Record<string, string>) =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", ...headers },
      body,
    });
  const foreign = await send({ origin: "https://evil.example.com" });
  expect([foreign.status, await foreign.json()]).toEqual([
    403,
    {
      jsonrpc: "2.0",
      id: null,
      error: { code: -32_000, message: expect.stringContaining("Origin") as string },
    },
  ]);
  const limit = {
    policy: "address",
    quota: 1,
    windowSeconds: 60,
    remaining: 0,
    resetSeconds: 60,
  } as const;
  admission = { kind: "unauthenticated", limit };
  const refused = await send({});
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toBe("Bearer");
});

test("POST /mcp refuses a host name that is not the gateway's, because a web page could have rebound its own name to the server", async () => {
  const { port } = new URL(url);
  const answer = await app.inject({
    method: "POST",
    url: "/mcp",
    headers: { host: `evil.example.com:${port}`, "content-type": "application/json" },
    payload: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
  });
  expect([answer.statusCode, answer.body]).toEqual([403, expect.stringContaining("Host")]);
});

const DRAFTS_ONLY = admitted({
  scopes: new Set(["accounts:read", "posts:read", "posts:write", "comments:write", "mcp:drafts"]),
});

test.each([
  ["create_post", { ...NEW, when: "now" }],
  ["create_post", { ...NEW, when: "queue" }],
  ["create_post", { ...NEW, when: "scheduled", scheduledAt: "2026-12-24T18:00:00Z" }],
  ["update_post", { postId: POST_ID, publishNow: true }],
  ["update_post", { postId: POST_ID, scheduledAt: "2026-12-24T18:00:00Z" }],
  ["update_post", { postId: POST_ID, content: "b" }],
  ["cancel_post", { postId: POST_ID }],
  ["retry_failed_targets", { postId: POST_ID }],
  [
    "reply_to_comment",
    { accountId: ACCOUNT_ID, mediaId: "m", commentId: "c", text: "a", idempotencyKey: "k" },
  ],
])(
  "an API key that is limited to drafts cannot use %s with %j, and no service is called to change anything",
  async (name, input) => {
    admission = DRAFTS_ONLY;
    posts = { batchGetPosts: () => ({ posts: [postOf({ status: "scheduled" })] }) };
    const client = await connect("modern");
    const result = await call(client, name, input);
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain("mcp:drafts");
    await client.close();
  },
);

test("an API key that is limited to drafts creates drafts, and changes them only while they are drafts", async () => {
  admission = DRAFTS_ONLY;
  const versions: unknown[] = [];
  posts = {
    createPost: () => ({ post: postOf({ status: "draft" }) }),
    batchGetPosts: () => ({ posts: [postOf({ status: "draft" })] }),
    updatePost: ({ ifVersion }) => {
      versions.push(ifVersion);
      return { post: postOf({ status: "draft" }) };
    },
  };
  const client = await connect("modern");
  expect((await call(client, "create_post", NEW)).isError).not.toBe(true);
  const changed = await call(client, "update_post", { postId: POST_ID, content: "b" });
  expect(changed.isError).not.toBe(true);
  expect(versions).toEqual([3n]);
  await client.close();
});
