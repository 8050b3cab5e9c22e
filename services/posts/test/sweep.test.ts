import { beforeEach, expect, test } from "vitest";
import { repeatRequests } from "#src/operations/publish-requests.ts";
import { deliveryOf, startPostsForFile } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";
import { publishPost } from "./workspace.ts";

const posts = await startPostsForFile();
beforeEach(async () => {
  await posts.migrationSql`truncate posts, outbox cascade`;
  posts.peers.tasks.clear();
  posts.peers.askedTargets.length = 0;
  posts.peers.closed.clear();
  posts.peers.calling.clear();
  posts.peers.deliveryIsUp = true;
});

const publish = (targetCount: number) => publishPost(posts, targetCount);

const reread = (post: ShownPost) => posts.getPost(post.workspaceId, post.id);

test("the sweep job repeats the publish request of targets that the delivery service does not know", async () => {
  const post = await publish(2);
  const [request] = await posts.events();
  await posts.sql`delete from outbox`;

  await posts.sweep();

  expect(await posts.events()).toEqual([request]);
  expect(await reread(post)).toEqual(post);
});

test("the sweep job repeats no publish request that still waits in the outbox, however long the bus is down", async () => {
  await publish(2);
  const before = await posts.events();

  await posts.sweep();
  await posts.sweep();

  expect(await posts.events()).toEqual(before);
});

test("if a failure parts the targets of a post, the sweep job repeats the request of each", async () => {
  const { id: postId, workspaceId, targets } = await publish(2);
  await posts.sql`delete from outbox`;
  const keys = targets.map(({ id: targetId }) => ({
    workspaceId,
    postId,
    targetId,
    generation: 1,
  }));

  for (const key of keys) await posts.sql.begin((tx) => repeatRequests(tx, [key]));
  for (const key of keys) await posts.sql.begin((tx) => repeatRequests(tx, [key]));

  expect(await posts.events()).toMatchObject(
    keys.map(({ targetId }) => ["PostPublishRequested", { targets: [{ targetId }] }]),
  );
});

test("while over 20,000 events wait in the outbox, the sweep job repeats nothing, but applies the reports of the delivery service", async () => {
  const lost = await publish(1);
  const published = await publish(1);
  await posts.migrationSql`truncate outbox`;
  await posts.migrationSql`
    insert into outbox (event_id, type, key, payload, headers)
    select gen_random_uuid(), 'postrider.posts.v1.PostPublished', 'other', '{}', '{}'
    from generate_series(1, 20001)`;
  posts.peers.tasks.set(published.targets[0]?.id ?? "", deliveryOf(published)(0, "published"));
  await posts.sweep();

  expect((await reread(published)).status).toBe("published");
  const requests = async () => await posts.sql`select from outbox where key = ${lost.id}`;
  expect(await requests()).toHaveLength(0);
  await posts.migrationSql`truncate outbox`;
  await posts.sweep();
  expect(await requests()).toHaveLength(1);
});

test("the sweep job repeats a publish request with the same event id, so that an unprocessable request is stored in parked_events only once", async () => {
  await publish(2);
  await publish(1);
  const readIds = async (): Promise<readonly string[]> => {
    await posts.sql`delete from outbox`;
    await posts.sweep();
    const rows = await posts.sql<{ eventId: string }[]>`select event_id from outbox order by key`;
    return rows.map(({ eventId }) => eventId);
  };

  const first = await readIds();

  expect(new Set(first).size).toBe(2);
  expect(await readIds()).toEqual(first);
});

test("of many publish requests of a workspace, the sweep job repeats the first 50 in turn with those of others, and the rest in the topic for a backlog", async () => {
  const [post, other] = [await publish(1), await publish(1)];
  await posts.sql`
    with copies as (
      insert into posts (id, workspace_id, status, content, options, media_ids, media, created_via, created_at,
        updated_at, started_at)
      select gen_random_uuid(), workspace_id, status, content, options, media_ids, media, created_via, created_at,
        updated_at, started_at
      from posts
      cross join generate_series(2, 60)
      where id = ${post.id}
      returning id
    )
    insert into targets (id, workspace_id, post_id, ordinal, account_id, platform, username, status, generation,
      due_at, publish_before, last_report_at, updated_at)
    select gen_random_uuid(), workspace_id, copies.id, ordinal, account_id, platform, username, status, generation,
      due_at, publish_before, last_report_at, updated_at
    from targets, copies
    where post_id = ${post.id}`;
  await posts.sql`delete from outbox`;

  await posts.sweep();

  const rows = await posts.sql<{ domain: string; keys: string[] }[]>`
    select split_part(type, '.', 2) as domain, array_agg(key) as keys
    from outbox
    group by domain
    order by domain`;
  expect(rows.map(({ domain, keys }) => [domain, keys.length])).toEqual([
    ["backlog", 10],
    ["posts", 51],
  ]);
  expect(rows[1]?.keys).toContain(other.id);
});

test("the sweep job repeats publish requests only for targets without an outcome", async () => {
  const post = await publish(3);
  const update = deliveryOf(post);
  await posts.report([update(0, "published"), update(1, "failed")]);
  await posts.sql`delete from outbox`;

  await posts.sweep();

  const [[name, event] = []] = await posts.events();
  expect(name).toBe("PostPublishRequested");
  expect(event).toMatchObject({ version: 2n, targets: [{ targetId: post.targets[2]?.id }] });
});

test("the sweep job applies the delivery service's answers about targets in the same way as the delivery service's events", async () => {
  const post = await publish(1);
  posts.peers.tasks.set(post.targets[0]?.id ?? "", deliveryOf(post)(0, "published"));

  await posts.sweep();

  expect(await reread(post)).toMatchObject({
    status: "published",
    targets: [{ status: "published", permalink: "https://example.test/0" }],
  });
  expect((await posts.events()).map(([name]) => name)).toEqual([
    "PostPublishRequested",
    "PostPublished",
  ]);
});

test("the sweep job also asks the delivery service about failed targets with an unknown outcome", async () => {
  const post = await publish(1);
  const update = deliveryOf(post);
  await posts.report([update(0, "failed", { errorCode: "outcome_unknown" })]);
  posts.peers.tasks.set(post.targets[0]?.id ?? "", update(0, "published"));

  await posts.sweep();

  expect((await reread(post)).status).toBe("published");
});

test("the sweep job does not ask the delivery service about targets with a final outcome or with a recent report", async () => {
  const settled = await publish(2);
  const update = deliveryOf(settled);
  await posts.report([update(0, "published"), update(1, "failed")]);
  await publish(1);

  expect(await posts.sweep(120_000)).toBe(0);
  expect(posts.peers.askedTargets).toHaveLength(0);
});

test("concurrent sweep jobs ask the delivery service about each target once", async () => {
  await publish(60);
  await publish(60);

  await posts.sql`update targets set last_report_at = now() - interval '1 hour'`;

  const counts = await Promise.all([1, 2, 3].map(() => posts.sweep(60_000)));

  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(120);
  expect(new Set(posts.peers.askedTargets.map(({ targetId }) => targetId)).size).toBe(120);
});

test("the sweep job changes nothing while the delivery service is unavailable, and asks again later", async () => {
  const post = await publish(1);
  posts.peers.deliveryIsUp = false;
  await expect(posts.sweep()).rejects.toMatchObject({ kind: "unavailable" });

  posts.peers.deliveryIsUp = true;
  posts.peers.tasks.set(post.targets[0]?.id ?? "", deliveryOf(post)(0, "published"));
  await posts.sweep();

  expect((await reread(post)).status).toBe("published");
});

/** Moves the deadline of all targets into the past. */
const passDeadlines = () =>
  posts.sql`update targets set publish_before = now() - interval '1 second'`;

test("a target that the delivery service does not know after the target's deadline fails as missed and is cancelled in the delivery service", async () => {
  const post = await publish(2);
  const update = deliveryOf(post);
  await posts.report([update(0, "published")]);
  await posts.sql`delete from outbox`;
  await passDeadlines();

  await posts.sweep();

  expect(await reread(post)).toMatchObject({
    status: "partial",
    targets: [
      { status: "published" },
      { status: "failed", error: { code: "missed", retryable: true } },
    ],
  });
  expect((await posts.events()).map(([name]) => name)).toEqual(["PostPartial"]);
  expect([...posts.peers.closed]).toEqual([`${post.targets[1]?.id} 1`]);
  expect(await posts.sweep()).toBe(0);
});

test("a target cancelled in the delivery service before its deadline fails as missed after it, and is not requested again", async () => {
  const post = await publish(1);
  posts.peers.closed.add(`${post.targets[0]?.id} 1`);
  await posts.sql`delete from outbox`;
  await passDeadlines();

  await posts.sweep();

  expect((await reread(post)).targets).toMatchObject([{ error: { code: "missed" } }]);
  expect((await posts.events()).map(([name]) => name)).toEqual(["PostFailed"]);
});

test("a target for which the delivery service is calling the platform does not fail as missed after its deadline", async () => {
  const post = await publish(1);
  posts.peers.calling.add(post.targets[0]?.id ?? "");
  await passDeadlines();

  await posts.sweep();

  expect((await reread(post)).status).toBe("publishing");
});

test("a user can retry a target that failed as missed, because the delivery service did not know it", async () => {
  const post = await publish(1);
  await passDeadlines();
  await posts.sweep();
  await posts.sql`delete from outbox`;

  await posts.posts.retryPost({ workspaceId: post.workspaceId, id: post.id });

  const [[name, event] = []] = await posts.events();
  expect(name).toBe("PostPublishRequested");
  expect(event).toMatchObject({ targets: [{ targetId: post.targets[0]?.id, generation: 2 }] });
});

test("an invalid answer of the delivery service about one target does not keep the sweep job from applying the answers about other targets", async () => {
  const all = await Promise.all(Array.from({ length: 7 }, () => publish(1)));
  for (const [index, post] of all.entries()) {
    const update = deliveryOf(post)(0, "published");
    const answer = index === 3 ? { ...update, status: "evaporated" } : update;
    posts.peers.tasks.set(post.targets[0]?.id ?? "", answer);
  }

  await posts.sweep();

  const statuses = await Promise.all(all.map(async (post) => (await reread(post)).status));
  expect(statuses).toEqual(statuses.map((_, index) => (index === 3 ? "publishing" : "published")));
});

test("when the delivery service cannot answer about one target, the sweep job still applies the answers about the other targets of the same call", async () => {
  const all = await Promise.all(Array.from({ length: 5 }, () => publish(1)));
  for (const post of all)
    posts.peers.tasks.set(post.targets[0]?.id ?? "", deliveryOf(post)(0, "published"));
  posts.peers.unanswerable.add(all[2]?.targets[0]?.id ?? "");

  await posts.sweep();

  const statuses = await Promise.all(all.map(async (post) => (await reread(post)).status));
  expect(statuses).toEqual(statuses.map((_, index) => (index === 2 ? "publishing" : "published")));
});

const SWEEP_AFTER_MS = 120_000;

/** Moves the times of all targets into the past, as if this number of minutes had passed. */
const passMinutes = (minutes: number) =>
  posts.sql`
    update targets
    set last_report_at = last_report_at - ${minutes}::int * interval '1 minute',
      updated_at = updated_at - ${minutes}::int * interval '1 minute',
      due_at = due_at - ${minutes}::int * interval '1 minute'`;

test("the sweep job asks the delivery service about a waiting target ever more rarely, but at least every 20 minutes", async () => {
  const post = await publish(1);
  posts.peers.tasks.set(post.targets[0]?.id ?? "", deliveryOf(post)(0, "publishing"));
  await posts.report([deliveryOf(post)(0, "publishing")]);
  const askedAt: number[] = [];
  for (let minute = 1; minute <= 120; minute += 1) {
    await passMinutes(1);
    if ((await posts.sweep(SWEEP_AFTER_MS)) > 0) askedAt.push(minute);
  }

  const pauses = askedAt.map((minute, index) => minute - (askedAt[index - 1] ?? 0));
  expect(pauses.slice(0, 2).every((pause) => pause <= 3)).toBe(true);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(21);
  expect(askedAt.length).toBeLessThan(15);
});

test("the sweep job asks the delivery service about a target again two minutes after the last report about the target", async () => {
  const post = await publish(1);
  const update = deliveryOf(post);
  await posts.report([update(0, "publishing")]);
  await passMinutes(60);
  expect(await posts.sweep(SWEEP_AFTER_MS)).toBe(1);
  await posts.report([update(0, "publishing", { attemptCount: 1 })]);
  expect(await posts.sweep(SWEEP_AFTER_MS)).toBe(0);
  await passMinutes(3);
  expect(await posts.sweep(SWEEP_AFTER_MS)).toBe(1);
});
