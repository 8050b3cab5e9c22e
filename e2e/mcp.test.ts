import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import type { PostRecord } from "./support/requests/api.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/** What an MCP agent reads about a platform before it writes a post. */
interface Platform {
  readonly id: string;
  readonly rules: { readonly text: { readonly max: number } };
}

const system = await useSharedSystem();
const tenant = await openTenant(system);

/** An agent that uses the MCP tools of the gateway with an API key. */
async function openAgent(key: string) {
  const client = new Client(
    { name: "agent", version: "1" },
    { versionNegotiation: { mode: "auto" } },
  );
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", system.local().baseUrl), {
      requestInit: { headers },
    }),
  );
  return {
    use: async <T>(name: string, input: Record<string, unknown> = {}): Promise<T> => {
      const result = await client.callTool({ name, arguments: input });
      if (result.isError === true) throw new Error(JSON.stringify(result.content));
      return result.structuredContent as T;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

test("an MCP agent reads accounts and platform rules, validates and creates a draft, publishes it, and retries the failed account", async () => {
  const [x, bluesky] = [await tenant.connect("x"), await tenant.connect("bluesky")];
  await tenant.addFault(x, { operation: "publish", mode: "refuse" });
  await using agent = await openAgent(tenant.key);

  const { accounts } = await agent.use<{ accounts: { id: string }[] }>("list_accounts");
  expect(accounts.map(({ id }) => id).toSorted()).toEqual([x, bluesky].toSorted());
  const { platforms } = await agent.use<{ platforms: Platform[] }>("get_posting_rules");
  const limit = platforms.find(({ id }) => id === "x")?.rules.text.max ?? 0;
  expect(limit).toBeGreaterThan(0);
  const { quota, queue } = await agent.use<{ quota: object; queue: { rules: object[] } }>(
    "get_queue_and_quota",
  );
  expect(quota).toHaveProperty("monthly");
  expect(queue.rules).toEqual([]);

  const post = { content: "Written by an agent", accountIds: [x, bluesky] };
  const tooLong = { ...post, content: "a".repeat(limit + 1) };
  await expect(agent.use("validate_post", tooLong)).rejects.toThrow(`\\"limit\\":${limit}`);
  expect(await agent.use("validate_post", post)).toMatchObject({ valid: true });
  const input = { ...post, idempotencyKey: crypto.randomUUID() };
  const { post: draft } = await agent.use<{ post: PostRecord }>("create_post", input);
  expect(draft).toMatchObject({ status: "draft", createdVia: "mcp" });
  const { post: same } = await agent.use<{ post: PostRecord }>("create_post", input);
  expect(same.id).toBe(draft.id);

  await agent.use("update_post", { postId: draft.id, publishNow: true });
  const partial = await agent.use<PostRecord>("get_post", { postId: draft.id, waitSeconds: 30 });
  expect(partial.status).toBe("partial");
  const failed = partial.targets.filter(({ status }) => status === "failed");
  expect(failed).toMatchObject([
    { accountId: x, error: { action: expect.stringContaining("retry") } },
  ]);

  await agent.use("retry_failed_targets", { postId: draft.id });
  const published = await agent.use<PostRecord>("get_post", { postId: draft.id, waitSeconds: 30 });
  expect(published.status).toBe("published");
  expect(await tenant.countVisible("Written by an agent")).toBe(2);
  const { posts } = await agent.use<{ posts: { id: string }[] }>("list_posts", { limit: 5 });
  expect(posts.map(({ id }) => id)).toContain(draft.id);
});

test("an MCP agent whose API key allows only drafts creates a draft and cannot publish it", async () => {
  const bluesky = await tenant.connect("bluesky");
  const words = ["--name", "Agent", "--workspace", tenant.id, "--scopes", "all"];
  const policy = ["--mcp", "draft-only"];
  const created = await system.operate<{ key: string; scopes: string[] }>(
    "key",
    "create",
    ...words,
    ...policy,
  );
  expect(created.scopes).toContain("mcp:drafts");
  await using agent = await openAgent(created.key);
  const { post } = await agent.use<{ post: PostRecord }>("create_post", {
    content: "Only a draft",
    accountIds: [bluesky],
    idempotencyKey: crypto.randomUUID(),
  });
  await expect(agent.use("update_post", { postId: post.id, publishNow: true })).rejects.toThrow(
    /insufficient_scope/,
  );
  await agent.use("update_post", { postId: post.id, content: "Still a draft" });
  expect(await tenant.countVisible("Still a draft")).toBe(0);
});
