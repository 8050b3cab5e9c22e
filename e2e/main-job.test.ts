import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { PostRecord } from "./support/requests/api.ts";
import { whenPost } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

const PLATFORMS = ["bluesky", "telegram", "x"];

const system = await useSharedSystem();
const tenant = await openTenant(system);
const accountIds = await Promise.all(PLATFORMS.map((platform) => tenant.connect(platform)));

test("one request publishes to X, Telegram and Bluesky, and every target shows its permalink", async () => {
  const content = "Hello 🎉";
  const answer = await tenant.api.call<PostRecord>("POST", "/posts", {
    body: { content, accountIds },
  });
  expect(answer.status).toBe(202);
  expect(answer.headers.get("location")).toBe(`/api/v1/posts/${answer.body.id}`);
  expect(answer.headers.get("etag")).not.toBeNull();

  const { targets } = await whenPost(tenant.api, answer.body.id, "published");
  const visible = await tenant.listVisible();
  expect(targets.map(({ platform }) => platform)).toEqual(PLATFORMS);
  for (const target of targets) {
    expect(target).toMatchObject({ status: "published", error: null, attemptCount: 1 });
    expect(target.permalink).toMatch(/^https:\/\//);
    expect(visible.filter(({ platform }) => platform === target.platform)).toMatchObject([
      { text: content, id: target.externalId, createCalls: 1 },
    ]);
  }
});

test("requests with the same Idempotency-Key create one post, and a request with that key and another body is refused", async () => {
  const body = { content: "Once", accountIds: accountIds.slice(0, 1) };
  const headers = { "idempotency-key": "once" };
  const post = (content = body.content) =>
    tenant.api.call<PostRecord & { error?: { code: string } }>("POST", "/posts", {
      body: { ...body, content },
      headers,
    });
  const answers = await Promise.all([post(), post(), post()]);
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  const replayed = answers.filter((answer) => answer.headers.get("idempotent-replayed") === "true");
  expect(replayed).toHaveLength(2);
  const other = await post("other");
  expect([other.status, other.body.error?.code]).toEqual([422, "idempotency_key_reused"]);
});

test("a post has the status `partial` when a platform refuses one of its targets, and that target shows the reason", async () => {
  const x = accountIds[PLATFORMS.indexOf("x")] ?? "";
  await tenant.addFault(x, { operation: "publish", mode: "refuse" });
  const { id } = await tenant.api.createPost("Partly", accountIds);
  const { targets } = await whenPost(tenant.api, id, "partial");
  const refused = targets.find(({ platform }) => platform === "x");
  expect(refused).toMatchObject({ status: "failed", externalId: null, permalink: null });
  expect(refused?.error?.code).toBeTruthy();
});

test("GET /accounts, /platforms and /posts list all accounts, platforms and posts page by page", async () => {
  const accounts = await tenant.api.call<{ accounts: { id: string }[] }>("GET", "/accounts");
  expect(accounts.body.accounts.map(({ id }) => id).toSorted()).toEqual(accountIds.toSorted());
  const platforms = await tenant.api.call<{ platforms: { id: string }[] }>("GET", "/platforms");
  expect(platforms.body.platforms.map(({ id }) => id)).toEqual([
    "instagram",
    "x",
    "facebook",
    "tiktok",
    "youtube",
    "telegram",
    "bluesky",
  ]);
  const contents: string[] = [];
  let cursor = "";
  await eventually(async () => {
    const { body } = await tenant.api.call<{ posts: PostRecord[]; nextCursor: string | null }>(
      "GET",
      `/posts?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    contents.push(...body.posts.map(({ content }) => content));
    cursor = body.nextCursor ?? "";
    return body.nextCursor === null;
  });
  expect(contents).toEqual(["Partly", "Once", "Hello 🎉"]);
});
