import { timestampFromDate, timestampMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import { newId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { newWorkspace, startPostsForFile } from "./fixture.ts";
import { msOf, toTimestamp } from "./shown-posts.ts";

const posts = await startPostsForFile();

const countRows = async () => {
  const [row] = await posts.sql<{ posts: number; targets: number; events: number; keys: number }[]>`
    select
      (select count(*)::int from posts) as posts,
      (select count(*)::int from targets) as targets,
      (select count(*)::int from outbox) as events,
      (select count(*)::int from idempotency_keys) as keys`;
  return row;
};

test("an accepted post has the status publishing, and GetPost returns the same post as CreatePost", async () => {
  const workspaceId = newWorkspace();
  const x = posts.peers.connectAccount(workspaceId, "x");
  const telegram = posts.peers.connectAccount(workspaceId, "telegram");
  const nudges = posts.nudges.count;

  const post = await posts.createPost({
    workspaceId,
    content: "hello",
    accountIds: [telegram, x],
    options: { x: { content: "short" }, [telegram]: { content: "long" } },
    createdVia: "mcp",
  });

  expect(post).toMatchObject({
    workspaceId,
    status: "publishing",
    content: "hello",
    createdVia: "mcp",
    version: 1n,
    targets: [
      {
        accountId: telegram,
        platform: "telegram",
        username: "telegram-user",
        status: "publishing",
      },
      { accountId: x, platform: "x", username: "x-user", status: "publishing" },
    ],
    attempts: [],
  });
  expect(post.startedAt).toEqual(post.createdAt);
  expect(await posts.getPost(workspaceId, post.id)).toEqual(post);
  expect(posts.nudges.count).toBe(nudges + 1);
});

test("ValidatePost, CreatePost and PublishPost refuse a run of more than 30 combining marks alike, and a draft keeps it", async () => {
  const workspaceId = newWorkspace();
  const accountIds = [posts.peers.connectAccount(workspaceId, "telegram")];
  const [accountId] = accountIds;
  const content = `a${"\u0301".repeat(20_000)}`;
  const violation = { code: "forbidden_characters", limit: 30, accountId, platform: "telegram" };
  const refusal = {
    reason: "validation_failed",
    violations: [{ ...violation, path: "/content", actual: 20_000 }],
  };
  const posted = { workspaceId, accountIds, content };
  await expect(posts.posts.validatePost(posted)).rejects.toMatchObject(refusal);
  await expect(posts.createPost(posted)).rejects.toMatchObject(refusal);
  const draft = await posts.createPost({ ...posted, isDraft: true });
  expect(draft.content).toBe(content);
  await expect(posts.posts.publishPost({ workspaceId, id: draft.id })).rejects.toMatchObject(
    refusal,
  );
  const options = JSON.stringify({ telegram: { content: "a".repeat(5) } });
  const updated = await posts.posts.updatePost({ workspaceId, id: draft.id, options });
  expect(updated.post?.status).toBe("draft");
});

test("CreatePost appends the event that asks the delivery service to publish every target of the post", async () => {
  const workspaceId = newWorkspace();
  const accountIds = [
    posts.peers.connectAccount(workspaceId, "bluesky"),
    posts.peers.connectAccount(workspaceId, "x"),
  ];
  const post = await posts.createPost({ workspaceId, accountIds });
  const events = (await posts.events()).filter(([, event]) => event.postId === post.id);

  expect(events).toEqual([
    [
      "PostPublishRequested",
      expect.objectContaining({
        workspaceId,
        version: 1n,
        dueAt: toTimestamp(post.createdAt),
        targets: post.targets.map(({ id, accountId, platform }) =>
          expect.objectContaining({ targetId: id, accountId, platform, generation: 1 }),
        ),
      }),
    ],
  ]);
  const [[, event] = []] = events;
  const { publishBefore } = event as unknown as { publishBefore: Timestamp };
  expect(timestampMs(publishBefore) - msOf(post.createdAt)).toBe(86_400_000);
});

test("the refusal of CreatePost lists every violation, and nothing of the refused post is stored", async () => {
  const workspaceId = newWorkspace();
  const x = posts.peers.connectAccount(workspaceId, "x");
  const expired = posts.peers.connectAccount(workspaceId, "telegram", "reconnect_required");
  const gone = posts.peers.connectAccount(workspaceId, "bluesky", "disconnected");
  const facebook = posts.peers.connectAccount(workspaceId, "facebook");
  const before = await countRows();

  const refused = posts.posts.createPost({
    workspaceId,
    content: "a".repeat(281),
    accountIds: [x, expired, gone, facebook],
    mediaIds: [newId()],
    options: JSON.stringify({ youtube: { title: "unused" } }),
    createdVia: "rest",
    idempotency: { key: "refused", fingerprint: "a" },
  });

  await expect(refused).rejects.toMatchObject({
    kind: "unprocessable",
    reason: "validation_failed",
  });
  const { violations } = (await refused.catch((error: unknown) => error)) as {
    violations: { code: string; path: string }[];
  };
  expect(violations.map(({ code, path }) => [code, path])).toEqual([
    ["account_reconnect_required", "/accountIds/1"],
    ["unknown_account", "/accountIds/2"],
    ["platform_unavailable", "/accountIds/3"],
    ["unknown_media", "/mediaIds/0"],
    ["content_too_long", "/content"],
  ]);
  expect(await countRows()).toEqual(before);
});

test("a post stores a copy of its media in the order of the request", async () => {
  const workspaceId = newWorkspace();
  const account = posts.peers.connectAccount(workspaceId, "x");
  const media = ["one.png", "two.png"].map((fileName) => ({
    id: newId(),
    workspaceId,
    fileName,
    status: "ready",
    kind: "image",
    contentType: "image/png",
    bytes: 1234n,
    width: 10,
    height: 20,
    sha256: "ab",
    createdAt: timestampFromDate(new Date(0)),
  }));
  posts.peers.media.push(...media);
  const mediaIds = media.map(({ id }) => id).toReversed();

  const post = await posts.createPost({ workspaceId, accountIds: [account], mediaIds });

  expect(post.mediaIds).toEqual(mediaIds);
  expect(post.media).toMatchObject(media.toReversed());
  expect(await posts.getPost(workspaceId, post.id)).toEqual(post);
});

test.each([
  ["without accounts", { accountIds: [] }],
  [
    "with the same account twice",
    {
      accountIds: ["0198c2f0-0000-7000-8000-00000000000a", "0198c2f0-0000-7000-8000-00000000000a"],
    },
  ],
  ["with an account id that is not a UUID", { accountIds: ["me"] }],
  ["with an unknown createdVia", { createdVia: "carrier pigeon" }],
  [
    "for the next queue slot and for a time",
    { queueSlot: true, scheduledAt: timestampFromDate(new Date(Date.UTC(2099, 0))) },
  ],
  ["for the next queue slot and as a draft", { queueSlot: true, isDraft: true }],
])("CreatePost rejects a request %s as invalid", async (_name, change) => {
  const workspaceId = newWorkspace();
  const account = posts.peers.connectAccount(workspaceId, "x");

  await expect(
    posts.createPost({ workspaceId, accountIds: [account], ...change }),
  ).rejects.toMatchObject({
    kind: "invalid",
    reason: "invalid_request",
  });
});

test("concurrent CreatePost requests look up their accounts in one call", async () => {
  const workspaces = [newWorkspace(), newWorkspace(), newWorkspace()];
  const accounts = workspaces.map((workspaceId) => posts.peers.connectAccount(workspaceId, "x"));
  await posts.createPost({ workspaceId: workspaces[0] ?? "", accountIds: accounts.slice(0, 1) });
  const calls = posts.peers.accountCalls.length;

  await Promise.all(
    workspaces.map((workspaceId, index) =>
      posts.createPost({
        workspaceId,
        accountIds: accounts.slice(index, index + 1),
        content: "another",
      }),
    ),
  );

  expect(posts.peers.accountCalls).toHaveLength(calls + 1);
  expect(posts.peers.accountCalls.at(-1)?.workspaces).toHaveLength(3);
});

test("a text of 25,000 characters is accepted for an account of X that the accounts service reports as verified, and refused for others", async () => {
  const workspaceId = newWorkspace();
  const [plain, premium] = [
    posts.peers.connectAccount(workspaceId, "x"),
    posts.peers.connectAccount(workspaceId, "x"),
  ];
  const account = posts.peers.accounts.get(premium);
  posts.peers.accounts.set(premium, { ...account, traits: { verified_type: "blue" } });
  const post = { workspaceId, content: "a".repeat(25_000), createdVia: "rest" };
  await expect(posts.createPost({ ...post, accountIds: [plain, premium] })).rejects.toMatchObject({
    violations: [{ code: "content_too_long", accountId: plain, limit: 280, actual: 25_000 }],
  });
  const accepted = await posts.createPost({ ...post, accountIds: [premium] });
  expect(accepted.status).toBe("publishing");
});

test("a post whose media descriptions are longer than a platform allows is refused, and an accepted post shows them", async () => {
  const workspaceId = newWorkspace();
  const [x, telegram] = ["x", "telegram"].map((platform) =>
    posts.peers.connectAccount(workspaceId, platform),
  );
  const altText = "a".repeat(1_001);
  const mediaIds = [posts.peers.addMedia(workspaceId, { altText })];
  const post = { workspaceId, content: "described", mediaIds, createdVia: "rest" };
  await expect(
    posts.createPost({ ...post, accountIds: [x ?? "", telegram ?? ""] }),
  ).rejects.toMatchObject({
    violations: [
      {
        code: "alt_text_too_long",
        path: "/mediaIds/0",
        platform: "x",
        limit: 1_000,
        actual: 1_001,
      },
    ],
  });
  const accepted = await posts.createPost({ ...post, accountIds: [telegram ?? ""] });
  expect(accepted.media).toMatchObject([{ altText }]);
});
