import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { admitted, createTestServer, POST, POST_ID, WORKSPACE_ID, pageOf } from "./fixture.ts";

const MEBIBYTE = 1024 * 1024;
const OTHER_WORKSPACE = "01936a5e-7d2b-7000-8000-00000000000f";
const LEGACY = { accept: "application/json, text/event-stream" };
const MODERN = {
  ...LEGACY,
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "subscriptions/listen",
};

let calls = 0;
/**
 * `reads` counts the calls that read whole posts. `polls` counts the calls that read only the
 * statuses of the posts for which agents wait.
 */
let reads = 0;
let polls = 0;
/** The simulated posts service answers when this promise is resolved. */
let mayList: Promise<void> = Promise.resolve();
const app = await createTestServer(
  {
    posts: {
      listPosts: async () => {
        calls += 1;
        await mayList;
        return pageOf();
      },
      batchGetPosts: () => {
        reads += 1;
        return { posts: [POST] };
      },
      batchGetPostStatuses: ({ refs }) => {
        polls += 1;
        return { statuses: refs.map((ref) => ({ ref, status: "publishing" })) };
      },
    },
    publicUrl: "http://127.0.0.1:1",
    unsentLimits: {
      totalBytes: 80 * MEBIBYTE,
      bytesWithoutWorkspace: 8 * MEBIBYTE,
      bytesPerCaller: 9 * MEBIBYTE,
      maxWaitMs: 100,
    },
  },
  ({ workspaceId = WORKSPACE_ID }) => admitted({ workspaceId }),
);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => app.close());

function toMessage(method: string, params: object) {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

const LIST = toMessage("tools/call", { name: "list_posts", arguments: {} });

function post(
  body: string,
  headers: Record<string, string>,
  signal = AbortSignal.timeout(10_000),
): Promise<Response> {
  return fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    signal,
  });
}

test("an MCP tool with a large answer is called only after memory is reserved for this answer, and is refused when the reservation takes too long", async () => {
  // Of the 9 MiB that the unsent answers to a workspace may have, each call reserves 4 MiB for two
  // copies of a page of posts. So there is room for two calls.
  const gate = Promise.withResolvers<void>();
  mayList = gate.promise;
  const waiting = [post(LIST, LEGACY), post(LIST, LEGACY)];
  await eventually(() => calls === 2);
  const refused = await post(LIST, LEGACY);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  expect(await refused.text()).toContain("rate_limited");
  expect(calls).toBe(2);

  const other = post(LIST, { ...LEGACY, "x-workspace-id": OTHER_WORKSPACE });
  await eventually(() => calls === 3);
  gate.resolve();
  for (const answer of await Promise.all([...waiting, other])) {
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("structuredContent");
  }
});

test("an agent that asks to be told of changes of the MCP tools is answered at once with an error", async () => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { _meta, notifications: { toolsListChanged: true } };
  const answer = await post(toMessage("subscriptions/listen", params), MODERN);
  expect(await answer.json()).toMatchObject({ id: 1, error: { code: -32603 } });
});

test("a wait for a post ends when the connection of the agent is closed", async () => {
  const agent = new AbortController();
  const args = { postId: POST_ID, waitSeconds: 30 };
  const message = toMessage("tools/call", { name: "get_post", arguments: args });
  const answer = post(message, LEGACY, agent.signal).catch(() => undefined);
  await eventually(() => polls >= 2);
  expect(reads).toBe(0);
  agent.abort();
  await answer;
  // After the wait for the post has ended, the request reads the post.
  await eventually(() => reads === 1);
});
