import { create, toJsonString } from "@bufbuild/protobuf";
import {
  TargetUpdatedSchema,
  type TargetUpdated,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { RetryLaterError } from "@postrider/shared/bus";
import { newId } from "@postrider/shared/ids";
import { createOutboxCapacityCheck } from "@postrider/shared/outbox";
import { expect, test } from "vitest";
import { deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";

const posts = await startPostsForFile();

async function publish(content = "hello") {
  const workspaceId = newWorkspace();
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  return await posts.createPost({ workspaceId, accountIds, content });
}

test("CreatePost is refused as unavailable while the accounts service is unavailable", async () => {
  const workspaceId = newWorkspace();
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  posts.peers.accountsAreUp = false;

  await expect(posts.createPost({ workspaceId, accountIds })).rejects.toMatchObject({
    kind: "unavailable",
    retryAfterMs: 1000,
  });

  posts.peers.accountsAreUp = true;
  expect((await posts.posts.listPosts({ workspaceId, limit: 1 })).posts).toEqual([]);
  expect((await posts.createPost({ workspaceId, accountIds })).status).toBe("publishing");
});

test("the outbox capacity check throws while the outbox is full, so that new posts are refused", async () => {
  await publish();
  await publish();

  await expect(createOutboxCapacityCheck(posts.sql, 2)()).rejects.toMatchObject({
    kind: "unavailable",
  });
  await createOutboxCapacityCheck(posts.sql, 1_000_000)();
});

test("the outbox has room while few events wait in it, however many later ones were published before them", async () => {
  await publish();
  await posts.migrationSql`
    select setval(pg_get_serial_sequence('outbox', 'id'), (select max(id) from outbox) + 1_000_000)`;
  await publish();

  await createOutboxCapacityCheck(posts.sql, 100_000)();
});

const toRecord = (update: TargetUpdated) => ({
  key: update.postId,
  headers: {
    ce_id: newId(),
    ce_type: TargetUpdatedSchema.typeName,
    ce_time: new Date().toISOString(),
  },
  value: toJsonString(TargetUpdatedSchema, update),
});

test("an invalid event of the delivery service is stored in the table parked_events, and the other events of its batch are applied", async () => {
  const [bad, good] = [await publish(), await publish()];
  const nonsense = create(TargetUpdatedSchema, {
    ...deliveryOf(bad)(0, "published"),
    status: "exploded",
  });
  const batch = [nonsense, deliveryOf(good)(0, "published")].map(toRecord);

  // The first failure is that of the whole batch, before it is halved.
  for (let failures = 0; failures < 5; failures += 1)
    await expect(posts.consume(batch)).rejects.toThrow(RetryLaterError);

  await posts.consume(batch);

  expect(await posts.getPost(bad.workspaceId, bad.id)).toEqual(bad);
  expect((await posts.getPost(good.workspaceId, good.id)).status).toBe("published");
  const parked = await posts.sql<
    { key: string; error: string }[]
  >`select key, error from parked_events`;
  expect(parked).toEqual([{ key: bad.id, error: expect.stringContaining("exploded") }]);
});

test("a target update for a deleted post is ignored without an error", async () => {
  const post = await publish();
  const update = deliveryOf(post)(0, "published");
  await posts.sql`delete from posts where id = ${post.id}`;

  await posts.report([update]);

  await expect(posts.getPost(post.workspaceId, post.id)).rejects.toMatchObject({
    kind: "not_found",
  });
});
