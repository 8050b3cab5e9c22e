import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PostRecord } from "./support/api.ts";
import { startSystem, type BusKind, type System } from "./support/system.ts";

const WITHOUT_MEDIA: readonly string[] = ["x", "telegram", "bluesky"];

function textAccounts(system: System) {
  return system.local().accounts.filter(({ platform }) => WITHOUT_MEDIA.includes(platform));
}

describe.each<BusKind>(["postgres", "kafka"])("on the %s bus", (bus) => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem(bus);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  test("one request publishes to x, telegram and bluesky, and every target shows its permalink", async () => {
    const accounts = textAccounts(system);
    const content = `Hello from ${bus} 🎉`;
    const answer = await system.api.call<PostRecord>("POST", "/posts", {
      body: { content, accountIds: accounts.map(({ id }) => id) },
    });
    expect(answer.status).toBe(202);
    expect(answer.headers.get("location")).toBe(`/api/v1/posts/${answer.body.id}`);
    expect(answer.headers.get("etag")).not.toBeNull();

    const post = await eventually(async () => {
      const found = await system.api.getPost(answer.body.id);
      return found.status === "published" && found;
    });
    const visible = await system.simulator.visible();
    for (const target of post.targets) {
      const account = accounts.find(({ id }) => id === target.accountId);
      expect(target).toMatchObject({ status: "published", error: null, attemptCount: 1 });
      expect(target.permalink).toMatch(/^https:\/\//);
      expect(
        visible.filter((entry) => entry.platform === target.platform && entry.text === content),
      ).toMatchObject([{ account: account?.externalId, id: target.externalId, createCalls: 1 }]);
    }
    expect(post.targets.map(({ platform }) => platform).toSorted()).toEqual([
      "bluesky",
      "telegram",
      "x",
    ]);
  });

  test("accounts, platforms and the list of posts are readable", async () => {
    const accounts = await system.api.call<{ accounts: unknown[] }>("GET", "/accounts");
    expect(accounts.status).toBe(200);
    expect(accounts.body.accounts.length).toBeGreaterThanOrEqual(3);
    const platforms = await system.api.call<{ platforms: { id: string; available: boolean }[] }>(
      "GET",
      "/platforms",
    );
    expect(platforms.body.platforms.map(({ id }) => id)).toEqual([
      "instagram",
      "x",
      "facebook",
      "tiktok",
      "youtube",
      "telegram",
      "bluesky",
    ]);
    const posts = await system.api.call<{ posts: PostRecord[] }>("GET", "/posts?limit=1");
    expect(posts.body.posts).toHaveLength(1);
  });

  test("the same Idempotency-Key gives the same post, and publishes once", async () => {
    const accountIds = system
      .local()
      .accounts.filter(({ platform }) => platform === "bluesky")
      .map(({ id }) => id);
    const body = { content: `Once, ${bus}`, accountIds };
    const headers = { "idempotency-key": `key-${bus}` };
    const answers = await Promise.all(
      [1, 2, 3].map(() => system.api.call<PostRecord>("POST", "/posts", { body, headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    expect(
      answers.filter((answer) => answer.headers.get("idempotent-replayed") === "true"),
    ).toHaveLength(2);
    const other = await system.api.call<{ error: { code: string } }>("POST", "/posts", {
      body: { ...body, content: "other" },
      headers,
    });
    expect([other.status, other.body.error.code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("a refused target says why, and the others are published: partial", async () => {
    const accounts = textAccounts(system);
    await system.simulator.addFault({ platform: "x", operation: "publish", mode: "refuse" });
    const post = await system.api.createPost(
      `Partly, ${bus}`,
      accounts.map(({ id }) => id),
    );
    const done = await eventually(async () => {
      const found = await system.api.getPost(post.id);
      return found.status === "partial" && found;
    });
    const refused = done.targets.find(({ platform }) => platform === "x");
    expect(refused).toMatchObject({ status: "failed", externalId: null, permalink: null });
    expect(refused?.error?.code).toBeTruthy();
  });
});
