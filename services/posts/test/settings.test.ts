import { expect, test } from "vitest";
import { attempt, deliveryOf, startPostsForFile } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";
import { workspaceOf } from "./workspace.ts";

const posts = await startPostsForFile();

/** Returns the settings with which the delivery service is to publish the targets of a post. */
async function settingsOf({ workspaceId, targets }: ShownPost, generation = 1) {
  const refs = targets.map(({ id }) => ({ workspaceId, targetId: id, generation }));
  const { contents } = await posts.targets.batchGetTargetContents({ refs });
  return contents.map(({ settings }) =>
    settings === "" ? null : (JSON.parse(settings) as object),
  );
}

test("a post is published with the settings that its accounts had when it was accepted", async () => {
  const workspace = workspaceOf(posts);
  const [x, bluesky] = [workspace.connect("x"), workspace.connect("bluesky")];
  posts.peers.changeSettings(bluesky, { languages: ["en"] });
  const post = await workspace.create({ accountIds: [x, bluesky] });
  posts.peers.changeSettings(bluesky, { languages: ["de"] });
  expect(await settingsOf(post)).toEqual([null, { languages: ["en"] }]);
});

test("a retry publishes with the settings with which the post was accepted", async () => {
  const workspace = workspaceOf(posts);
  const x = workspace.connect("x");
  posts.peers.changeSettings(x, { replySettings: "mentioned" });
  const post = await workspace.create({ accountIds: [x] });
  posts.peers.changeSettings(x, {});
  const failed = { attemptCount: 1, attempt: attempt(1, "failed", "content_rejected") };
  await posts.report([deliveryOf(post)(0, "failed", failed)]);
  await posts.posts.retryPost(workspace.ref(post));
  expect(await settingsOf(post, 2)).toEqual([{ replySettings: "mentioned" }]);
});

test("a draft takes the settings that its accounts have when it is published", async () => {
  const workspace = workspaceOf(posts);
  const x = workspace.connect("x");
  posts.peers.changeSettings(x, { replySettings: "mentioned" });
  const post = await workspace.create({ accountIds: [x], isDraft: true });
  posts.peers.changeSettings(x, { replySettings: "following" });
  await posts.posts.publishPost(workspace.ref(post));
  expect(await settingsOf(post)).toEqual([{ replySettings: "following" }]);
});

test("a post that breaks a rule because of the settings of an account is refused, and the error names the account and the path", async () => {
  const workspace = workspaceOf(posts);
  const telegram = workspace.connect("telegram");
  posts.peers.changeSettings(telegram, { format: "html" });
  const refused = { accountIds: [telegram], content: "<b>bold" };
  await expect(workspace.create(refused)).rejects.toMatchObject({
    reason: "validation_failed",
    violations: [
      { code: "markup_invalid", path: "/content", accountId: telegram, platform: "telegram" },
    ],
  });
});

test("CreatePost and ValidatePost refuse a TikTok privacy and video length that TikTok last did not offer the account, with a single lookup", async () => {
  const workspace = workspaceOf(posts);
  const { workspaceId } = workspace;
  const tiktok = workspace.connect("tiktok");
  const account = posts.peers.accounts.get(tiktok);
  const offered = { audiences: ["friends", "only_me"], maxVideoSeconds: 60 };
  posts.peers.accounts.set(tiktok, { ...account, available: JSON.stringify(offered) });
  const video = { kind: "video", contentType: "video/mp4", durationMs: 90_000n };
  const mediaIds = [posts.peers.addMedia(workspaceId, video)];
  const options = JSON.stringify({ tiktok: { privacy: "public" } });
  const post = { workspaceId, content: "a", accountIds: [tiktok], mediaIds, options };
  const violations = [
    {
      code: "privacy_unsupported",
      path: "/options/tiktok/privacy",
      accountId: tiktok,
      allowed: ["unlisted", "private"],
    },
    { code: "media_duration", path: "/mediaIds/0", limit: 60, actual: 90 },
  ];
  const calls = posts.peers.accountCalls.length;
  const refusal = { reason: "validation_failed", violations };
  await expect(posts.posts.validatePost(post)).rejects.toMatchObject(refusal);
  expect(posts.peers.accountCalls).toHaveLength(calls + 1);
  const created = posts.posts.createPost({ ...post, createdVia: "rest" });
  await expect(created).rejects.toMatchObject(refusal);
});
