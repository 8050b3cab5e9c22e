import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { listWantedTargets } from "#src/db/wanted-targets.ts";
import { deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";

const posts = await startPostsForFile();

const refOf = (post: ShownPost, ordinal: number, generation = 1) => ({
  workspaceId: post.workspaceId,
  targetId: post.targets[ordinal]?.id ?? "",
  generation,
});

test("BatchGetTargetContents returns each target with its own options, in the order of the request", async () => {
  const workspaceId = newWorkspace();
  const [x, bluesky, telegram] = ["x", "bluesky", "telegram"].map((platform) =>
    posts.peers.connectAccount(workspaceId, platform),
  ) as [string, string, string];
  const image = {
    id: newId(),
    workspaceId,
    status: "ready",
    kind: "image",
    contentType: "image/png",
    bytes: 99n,
    createdAt: timestampFromDate(new Date(0)),
  };
  posts.peers.media.push(image);
  const post = await posts.createPost({
    workspaceId,
    accountIds: [x, bluesky, telegram],
    mediaIds: [image.id],
    content: "for all",
    options: { bluesky: { content: "for bluesky" }, [telegram]: { content: "for this account" } },
  });

  const refs = [refOf(post, 2), refOf(post, 0), refOf(post, 1)];
  const { contents } = await posts.targets.batchGetTargetContents({ refs });

  expect(contents).toMatchObject([
    { ref: refs[0], wanted: true, text: "for this account", media: [image] },
    { ref: refs[1], wanted: true, text: "for all", media: [image] },
    { ref: refs[2], wanted: true, text: "for bluesky", media: [image] },
  ]);
});

test("BatchGetTargetContents reads only the text and options that the requested targets of a large post use", async () => {
  const workspaceId = newWorkspace();
  const accountIds = Array.from({ length: 20 }, () =>
    posts.peers.connectAccount(workspaceId, "telegram"),
  );
  const [first = "", ...others] = accountIds;
  const byAccount = others.map((id, index) => [
    id,
    { content: `text ${index}`.padEnd(4_000, "x") },
  ]);
  const options = {
    telegram: { content: "for telegram" },
    ...Object.fromEntries(byAccount),
  };
  // The options contain another text for each account, so the long text of the post is not
  // published and no platform refuses it.
  const content = "y".repeat(150_000);
  const post = await posts.createPost({ workspaceId, accountIds, content, options });
  const keys = accountIds.map((_id, index) => refOf(post, index));

  const rows = await listWantedTargets(posts.sql, keys);
  const { contents } = await posts.targets.batchGetTargetContents({ refs: keys });

  expect(JSON.stringify(rows).length).toBeLessThan(100_000);
  const texts = contents.map(({ text }) => text);
  expect(post.targets[0]?.accountId).toBe(first);
  expect(texts[0]).toBe("for telegram");
  expect(texts.slice(1)).toEqual(others.map((_id, index) => `text ${index}`.padEnd(4_000, "x")));
});

test("BatchGetTargetContents returns content only for the newest publish request of a target that has no outcome yet", async () => {
  const workspaceId = newWorkspace();
  const accountIds = ["x", "telegram"].map((platform) =>
    posts.peers.connectAccount(workspaceId, platform),
  );
  const post = await posts.createPost({ workspaceId, accountIds });
  const update = deliveryOf(post);
  await posts.report([update(0, "published"), update(1, "publishing")]);

  const { contents } = await posts.targets.batchGetTargetContents({
    refs: [refOf(post, 0), refOf(post, 1), refOf(post, 1, 2), refOf(post, 1, 0), refOf(post, 5)],
  });

  expect(contents.map(({ wanted }) => wanted)).toEqual([false, true, false, false, false]);
});

test("BatchGetTargetContents returns no content for targets of a cancelled post", async () => {
  const workspaceId = newWorkspace();
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  const post = await posts.createPost({ workspaceId, accountIds });
  await posts.sql`update posts set status = 'cancelled' where id = ${post.id}`;

  const { contents } = await posts.targets.batchGetTargetContents({ refs: [refOf(post, 0)] });

  expect(contents.map(({ wanted }) => wanted)).toEqual([false]);
});

test("BatchGetTargetContents rejects more than 500 targets", async () => {
  const refs = Array.from({ length: 501 }, () => ({
    workspaceId: newId(),
    targetId: newId(),
    generation: 1,
  }));

  await expect(posts.targets.batchGetTargetContents({ refs })).rejects.toMatchObject({
    reason: "invalid_request",
  });
});
