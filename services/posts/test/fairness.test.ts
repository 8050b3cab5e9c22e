import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@postrider/shared/ids";
import { holdTransaction } from "@postrider/shared/testing/database";
import { expect, test } from "vitest";
import { startPostsForFile } from "./fixture.ts";
import { DAILY_RULE, workspaceOf } from "./workspace.ts";

const posts = await startPostsForFile();

test("of 300 posts that a workspace creates at once 128 are worked on at the same time, and a post of another workspace does not wait for them", async () => {
  const many = workspaceOf(posts);
  const accountIds = [many.connect()];
  const mediaIds = [posts.peers.addMedia(many.workspaceId)];
  const released = Promise.withResolvers<void>();
  posts.peers.onUse = () => released.promise;
  const created = Array.from({ length: 300 }, () =>
    many.create({ accountIds, mediaIds, content: newId() }),
  );
  await expect.poll(() => posts.peers.used.length).toBeGreaterThanOrEqual(128);

  expect(await workspaceOf(posts).create()).toMatchObject({ status: "publishing" });
  expect(posts.peers.used).toHaveLength(128);

  released.resolve();
  expect(await Promise.all(created)).toHaveLength(300);
});

test("a workspace whose 500 drafts exceed its limit makes no post of another workspace fail, and delays it by a few of them", async () => {
  const full = workspaceOf(posts);
  const other = workspaceOf(posts);
  await posts.migrationSql`insert into post_limits (workspace_id, drafts) values (${full.workspaceId}, 3)`;
  const accountIds = [full.connect()];
  let ended = 0;
  const drafts = Array.from({ length: 500 }, async () => {
    const [result] = await Promise.allSettled([full.draft({ accountIds, content: newId() })]);
    ended += 1;
    return result;
  });

  expect(await other.create()).toMatchObject({ status: "publishing" });
  expect(ended).toBeLessThan(250);

  const results = await Promise.all(drafts);
  expect(results.filter((result) => result?.status === "fulfilled")).toHaveLength(3);
});

test("while 48 requests of a workspace wait for the lock on a post, requests of another workspace are answered", async () => {
  const many = workspaceOf(posts);
  const { workspaceId, id } = await many.draft();
  const release = await holdTransaction(
    posts.migrationSql,
    (tx) => tx`select 1 from posts where id = ${id} for update`,
  );
  const changes = Array.from({ length: 12 }, () => [
    posts.posts.updatePost({ workspaceId, id, content: newId() }),
    posts.posts.publishPost({ workspaceId, id }),
    posts.posts.retryPost({ workspaceId, id }),
    posts.posts.deletePost({ workspaceId, id }),
  ]).flat();
  const ended = Promise.allSettled(changes);

  const other = workspaceOf(posts);
  const draft = await other.draft();
  expect(await other.create()).toMatchObject({ status: "publishing" });
  const ref = { workspaceId: other.workspaceId, id: draft.id };
  const { post } = await posts.posts.updatePost({ ...ref, content: newId() });
  expect(post).toMatchObject({ version: 2n });

  await release();
  expect(await ended).toContainEqual(expect.objectContaining({ status: "fulfilled" }));
});

test("a post that waits for its queue slot delays no post of another workspace that was created at the same moment", async () => {
  const queued = workspaceOf(posts);
  const { workspaceId } = queued;
  await posts.slots.createQueueSlotRule({ workspaceId, ...DAILY_RULE });
  const release = await holdTransaction(
    posts.migrationSql,
    (tx) => tx`select 1 from queue_slot_rules where workspace_id = ${workspaceId} for update`,
  );
  const waiting = queued.create({ queueSlot: true });
  const others = Array.from({ length: 3 }, () => workspaceOf(posts).create());

  expect(await Promise.all(others)).toMatchObject(others.map(() => ({ status: "publishing" })));

  await release();
  expect(await waiting).toMatchObject({ status: "scheduled" });
});

const METRICS = { targetId: newId(), metrics: { refreshedAt: timestampFromDate(new Date()) } };

test.each<[string, (workspaceId: string, id: string) => Promise<unknown>]>([
  ["for the overview", (workspaceId) => posts.overview.getOverview({ workspaceId })],
  ["to read a post", (workspaceId, id) => posts.posts.getPost({ workspaceId, id })],
  [
    "to change a post",
    (workspaceId, id) => posts.posts.updatePost({ workspaceId, id, content: newId() }),
  ],
  [
    "to record metrics of a post",
    (workspaceId, postId) =>
      posts.posts.recordTargetMetrics({ workspaceId, postId, targets: [METRICS] }),
  ],
])(
  "while 12 requests %s of a workspace wait for the database, requests of another workspace are answered",
  async (_name, request) => {
    const many = workspaceOf(posts);
    const { workspaceId, id } = await many.draft();
    const release = await holdTransaction(
      posts.migrationSql,
      (tx) => tx`lock table targets in access exclusive mode`,
    );
    const requests = Array.from({ length: 12 }, () => request(workspaceId, id));

    const other = workspaceOf(posts);
    expect(await posts.slots.listQueueSlotRules({ workspaceId: other.workspaceId })).toMatchObject({
      rules: [],
    });

    await release();
    expect(await Promise.all(requests)).toHaveLength(12);
  },
);
