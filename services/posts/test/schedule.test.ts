import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import { beforeEach, expect, test, vi } from "vitest";
import { nextDue, startDuePosts } from "#src/db/due-posts.ts";
import {
  failMissedBatch,
  retryRefused,
  startDueBatch,
  startScheduler,
} from "#src/jobs/start-due-posts.ts";
import { RefusedPosts } from "#src/operations/refused-posts.ts";
import { deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";
import { msOf, toTimestamp } from "./shown-posts.ts";

const DAY_MS = 86_400_000;

const posts = await startPostsForFile();
beforeEach(async () => {
  await posts.migrationSql`truncate posts, outbox cascade`;
});

let count = 0;
function request(platform = "x") {
  const workspaceId = newWorkspace();
  const accountIds = [posts.peers.connectAccount(workspaceId, platform)];
  return { workspaceId, accountIds, content: `post ${(count += 1)}`, createdVia: "rest" };
}

const inMs = (ms: number) => ({ scheduledAt: timestampFromDate(new Date(Date.now() + ms)) });
const scheduler = (missedAfterMs = DAY_MS) => ({
  sql: posts.sql,
  missedAfterMs,
  nudgeRelay: () => {},
});
const eventNames = async () => (await posts.events()).map(([name]) => name);

/** Moves the times of all scheduled posts into the past, as if time had passed. */
async function passTime(ms: number) {
  await posts.sql`
    update posts
    set scheduled_at = scheduled_at - ${ms}::float8 * interval '1 millisecond'
    where status = 'scheduled'`;
  await posts.sql`
    update targets
    set due_at = due_at - ${ms}::float8 * interval '1 millisecond',
      publish_before = publish_before - ${ms}::float8 * interval '1 millisecond'`;
}

test("a post with a future time is scheduled, and GetPost returns the same post", async () => {
  const post = await posts.createPost({ ...request(), ...inMs(3_600_000) });

  expect(post).toMatchObject({ status: "scheduled", targets: [{ status: "pending" }] });
  expect(post.startedAt).toBeNull();
  expect(await posts.getPost(post.workspaceId, post.id)).toEqual(post);
  const [[name, event] = []] = await posts.events();
  expect(name).toBe("PostScheduled");
  const scheduledAt = toTimestamp(post.scheduledAt);
  expect(event).toMatchObject({ postId: post.id, version: 1n, scheduledAt });
});

test("a post with a scheduled time within the last minute is published at once", async () => {
  const post = await posts.createPost({ ...request(), ...inMs(-50_000) });

  expect(post.status).toBe("publishing");
  expect(post.scheduledAt).toEqual(post.startedAt);
  expect(await eventNames()).toEqual(["PostPublishRequested"]);
});

test.each([
  ["schedule_in_past", -65_000],
  ["schedule_too_far", 366 * DAY_MS + 5_000],
])(
  "CreatePost and ValidatePost report the violation %s for an invalid scheduled time",
  async (code, ms) => {
    const refusal = {
      reason: "validation_failed",
      violations: [{ code, path: "/scheduledAt" }],
    };
    const made = { ...request(), ...inMs(ms) };

    await expect(posts.createPost(made)).rejects.toMatchObject(refusal);
    await expect(posts.posts.validatePost(made)).rejects.toMatchObject(refusal);
  },
);

test("ValidatePost answers with the targets of a valid post and stores nothing", async () => {
  const made = { ...request(), ...inMs(60_000) };

  const { targets, scheduledAt } = await posts.posts.validatePost(made);

  expect(targets).toMatchObject([{ accountId: made.accountIds[0], platform: "x" }]);
  expect(scheduledAt).toEqual(made.scheduledAt);
  expect(await posts.posts.listPosts({ ...made, limit: 1 })).toMatchObject({ posts: [] });
});

test("a draft can have a scheduled time and content that cannot be published", async () => {
  const made = request();
  const other = posts.peers.connectAccount(made.workspaceId, "bluesky");
  const options = { [other]: { title: "t" }, youtube: { title: "t" } };

  const post = await posts.createPost({
    ...made,
    ...inMs(-10 * DAY_MS),
    content: "x".repeat(5000),
    options,
    isDraft: true,
  });

  expect(post.status).toBe("draft");
  expect(await posts.getPost(post.workspaceId, post.id)).toEqual(post);
  expect(await posts.events()).toEqual([]);
  expect((await posts.quota.getQuota(made)).monthly).toMatchObject({ reserved: 0n });
});

test("the accounts, media and option keys of a draft must exist", async () => {
  const made = request();
  const foreign = request();
  const [foreignId = ""] = foreign.accountIds;

  await expect(
    posts.createPost({
      ...made,
      accountIds: [...made.accountIds, foreignId],
      mediaIds: [made.workspaceId],
      options: { [foreignId]: {}, myspace: {} },
      isDraft: true,
    }),
  ).rejects.toMatchObject({
    violations: [
      { code: "unknown_account", path: "/accountIds/1", accountId: foreignId },
      { code: "unknown_media", path: "/mediaIds/0" },
      { code: "unknown_option_key", path: `/options/${foreignId}` },
      { code: "unknown_option_key", path: "/options/myspace" },
    ],
  });
});

test("several replicas together start a due post once", async () => {
  const made = await Promise.all(
    Array.from({ length: 120 }, () => posts.createPost({ ...request(), ...inMs(60_000) })),
  );
  await posts.createPost({ ...request(), ...inMs(3_600_000) });
  await posts.sql`delete from outbox`;
  await passTime(61_000);

  const started = await Promise.all([1, 2, 3, 4].map(() => startDueBatch(scheduler())));

  expect(started.reduce((sum, each) => sum + each, 0)).toBe(120);
  const events = await posts.events();
  expect(events.map(([name]) => name)).toEqual(Array(120).fill("PostPublishRequested"));
  expect(new Set(events.map(([, event]) => event.postId))).toEqual(
    new Set(made.map(({ id }) => id)),
  );
});

test("of many posts of one workspace that are due at once, the first 50 are requested in turn with those of others, and the rest in the topic for a backlog", async () => {
  const busy = request();
  const many = await Promise.all(
    Array.from({ length: 53 }, (_, index) =>
      posts.createPost({ ...busy, content: `many ${index}`, ...inMs(60_000 + index) }),
    ),
  );
  const other = await posts.createPost({ ...request(), ...inMs(60_200) });
  await posts.sql`delete from outbox`;
  await passTime(61_000);

  await startDueBatch(scheduler());

  const events = await posts.sql<{ key: string; type: string; payload: object }[]>`
    select key, type, payload from outbox order by id`;
  const idsOf = (domain: string) =>
    events
      .filter(({ type }) => type === `postrider.${domain}.v1.PostPublishRequested`)
      .map(({ key }) => key);
  const ids = many.map(({ id }) => id);
  expect(new Set(idsOf("posts"))).toEqual(new Set([...ids.slice(0, 50), other.id]));
  expect(new Set(idsOf("backlog"))).toEqual(new Set(ids.slice(50)));
});

test("the publish request of a post names the accounts that an edit chose while the scheduler started another post", async () => {
  const [first, edited] = [
    await posts.createPost({ ...request(), ...inMs(60_000) }),
    await posts.createPost({ ...request(), ...inMs(60_001) }),
  ];
  await posts.sql`delete from outbox`;
  await passTime(62_000);
  const ref = { workspaceId: edited.workspaceId, id: edited.id };
  const accountId = posts.peers.connectAccount(ref.workspaceId, "x");
  // The batch waits in its statement when it has locked the first post, and before it locks the
  // second one.
  await posts.migrationSql.unsafe(`
    create function wait_for_edit() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(1);
      return new;
    end $$;
    create trigger waits before update on posts for each row when (old.id = '${first.id}')
    execute function wait_for_edit()`);
  const { promise: isEdited, resolve: endEdit } = Promise.withResolvers<void>();
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
  const holding = posts.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(1)`;
    hold();
    await isEdited;
  });
  await isHeld;
  const starting = posts.sql.begin(async (tx) => {
    await tx`set local enable_hashjoin = off`;
    await tx`set local enable_mergejoin = off`;
    return await startDuePosts(tx, { missedAfterMs: DAY_MS, limit: 10 });
  });
  try {
    await eventually(async () => {
      const [waiting] = await posts.sql`
        select 1 from pg_locks where locktype = 'advisory' and not granted`;
      return waiting !== undefined;
    });

    await posts.posts.updatePost({ ...ref, accountIds: { values: [accountId] } });
    await posts.sql`delete from outbox`;
  } finally {
    endEdit();
  }
  await Promise.all([holding, starting]);
  await posts.migrationSql.unsafe("drop trigger waits on posts; drop function wait_for_edit");
  await startDueBatch(scheduler());

  const events = await posts.events();
  const { targets } = await posts.getPost(ref.workspaceId, ref.id);
  const [target, ...others] = targets;
  expect(others).toEqual([]);
  expect(events.filter(([, { postId }]) => postId === ref.id)).toMatchObject([
    ["PostPublishRequested", { version: 3n, targets: [{ targetId: target?.id, accountId }] }],
  ]);
});

test("a started post is publishing, and the publish request to the delivery service contains its scheduled time", async () => {
  const { id, workspaceId, targets } = await posts.createPost({ ...request(), ...inMs(60_000) });
  await posts.sql`delete from outbox`;
  await passTime(61_000);

  await startDueBatch(scheduler());

  const post = await posts.getPost(workspaceId, id);
  expect(post).toMatchObject({ status: "publishing", version: 2n });
  expect(post.targets[0]?.status).toBe("publishing");
  const startedMs = msOf(post.startedAt);
  expect(Math.abs(startedMs - Date.now())).toBeLessThan(10_000);
  const [[, event] = []] = await posts.events();
  expect(event).toMatchObject({
    postId: id,
    version: 2n,
    dueAt: toTimestamp(post.scheduledAt),
    targets: [{ targetId: targets[0]?.id, generation: 1 }],
  });
  const wanted = await posts.targets.batchGetTargetContents({
    refs: [{ workspaceId, targetId: targets[0]?.id ?? "", generation: 1 }],
  });
  expect(wanted.contents).toMatchObject([{ wanted: true }]);
  await posts.report([deliveryOf(post)(0, "published")]);
  expect((await posts.getPost(workspaceId, id)).status).toBe("published");
});

test("the sweep job sends the same publish request again for a started post when the first publish request was lost", async () => {
  await posts.createPost({ ...request(), ...inMs(60_000) });
  await posts.sql`delete from outbox`;
  await passTime(61_000);
  await startDueBatch(scheduler(2 * DAY_MS));
  const [first] = await posts.events();
  await posts.sql`delete from outbox`;
  await posts.sql`update targets set last_report_at = now() - interval '1 hour'`;

  await posts.sweep();

  expect(await posts.events()).toEqual([first]);
});

test("a post that is more than a day late fails as missed and frees its quota", async () => {
  const { id, workspaceId } = await posts.createPost({ ...request(), ...inMs(60_000) });
  await posts.sql`delete from outbox`;
  await passTime(DAY_MS + 61_000);

  const counts = await Promise.all([1, 2].map(() => failMissedBatch(scheduler())));
  expect(await startDueBatch(scheduler())).toBe(0);

  expect(counts.toSorted((a, b) => a - b)).toEqual([0, 1]);
  const post = await posts.getPost(workspaceId, id);
  expect(post).toMatchObject({
    status: "failed",
    targets: [{ status: "failed", error: { code: "missed", retryable: true } }],
  });
  expect(post.startedAt).toBeNull();
  expect(await eventNames()).toEqual(["PostFailed"]);
  expect((await posts.quota.getQuota({ workspaceId })).monthly).toMatchObject({ reserved: 0n });
});

const isPublishing = async ({ workspaceId, id }: { workspaceId: string; id: string }) =>
  (await posts.getPost(workspaceId, id)).status === "publishing";

test("a due post that cannot be started does not keep those of other workspaces from starting", async () => {
  const stuck = await posts.createPost({ ...request(), ...inMs(60_000) });
  const other = await posts.createPost({ ...request(), ...inMs(61_000) });
  // The event with these targets would be longer than the outbox allows.
  await posts.sql`
    insert into targets (id, workspace_id, post_id, ordinal, account_id, platform, username, generation, last_report_at,
      updated_at)
    select gen_random_uuid(), workspace_id, post_id, n, account_id, platform, username, generation, last_report_at,
      updated_at
    from targets, generate_series(1, 500) as n
    where post_id = ${stuck.id}`;
  await passTime(62_000);
  const logger = createLogger({ service: "posts", level: "silent" });

  await using _scheduler = startScheduler({ ...scheduler(), logger });
  await eventually(() => isPublishing(other));
  const late = await posts.createPost({ ...request(), ...inMs(60_000) });
  await passTime(61_000);
  await eventually(() => isPublishing(late));

  expect((await posts.getPost(stuck.workspaceId, stuck.id)).status).toBe("scheduled");
});

test("a due post whose start outlasts the time limit of a statement does not keep those of other workspaces from starting", async () => {
  const stuck = await posts.createPost({ ...request(), ...inMs(60_000) });
  const other = await posts.createPost({ ...request(), ...inMs(61_000) });
  await passTime(62_000);
  await posts.migrationSql.unsafe(`
    create function time_out() returns trigger language plpgsql as
      $$ begin raise exception 'canceling statement due to statement timeout' using errcode = '57014'; end $$;
    create trigger slow before update on posts for each row when (old.id = '${stuck.id}')
    execute function time_out()`);
  const logger = createLogger({ service: "posts", level: "silent" });

  try {
    await using _scheduler = startScheduler({ ...scheduler(), logger });
    await eventually(() => isPublishing(other));
  } finally {
    await posts.migrationSql.unsafe("drop function time_out() cascade");
  }

  expect((await posts.getPost(stuck.workspaceId, stuck.id)).status).toBe("scheduled");
});

test("a missed post that cannot be marked as failed keeps no other one from failing or starting", async () => {
  const [stuck, missed] = [
    await posts.createPost({ ...request(), ...inMs(60_000) }),
    await posts.createPost({ ...request(), ...inMs(61_000) }),
  ];
  await passTime(DAY_MS + 62_000);
  const due = await posts.createPost({ ...request(), ...inMs(1_000) });
  await posts.sql`update targets set due_day = 'soon' where post_id = ${stuck.id}`;
  const logger = createLogger({ service: "posts", level: "silent" });

  await using _scheduler = startScheduler({ ...scheduler(), logger });
  await eventually(() => isPublishing(due));
  await eventually(
    async () => (await posts.getPost(missed.workspaceId, missed.id)).status === "failed",
  );

  expect((await posts.getPost(stuck.workspaceId, stuck.id)).status).toBe("scheduled");
  const [next] = await nextDue(posts.sql, null, [stuck.id]);
  expect(next.dueMs).toBeNull();
  expect(next.oldestMs).toBeLessThan(-DAY_MS);
});

test("missed posts that are tried again all fail at once, also more than fail in one transaction", async () => {
  const ids: string[] = [];
  while (ids.length <= 100)
    ids.push((await posts.createPost({ ...request(), ...inMs(60_000) })).id);
  await passTime(DAY_MS + 120_000);
  const logger = createLogger({ service: "posts", level: "silent" });
  const refused = new RefusedPosts(logger);
  const stillDue: string[] = [];
  vi.spyOn(refused, "retry").mockImplementation(async (work, listDue) => {
    await work(ids);
    stillDue.push(...(await listDue(ids)));
    return true;
  });

  await retryRefused({ ...scheduler(), logger, refused });
  expect(stillDue).toEqual([]);
});

test("the scheduler starts posts at their scheduled time, and wakes up for a new post that is due before the post for which it waits", async () => {
  const logger = createLogger({ service: "posts", level: "silent" });
  await using job = startScheduler({ ...scheduler(), logger });
  const later = await posts.createPost({ ...request(), ...inMs(1_500) });
  const soon = await posts.createPost({ ...request(), ...inMs(200) });
  job.nudge(new Date(msOf(soon.scheduledAt)));

  for (const { workspaceId, id } of [soon, later]) {
    await vi.waitUntil(async () => (await posts.getPost(workspaceId, id)).status === "publishing", {
      timeout: 10_000,
      interval: 20,
    });
    const post = await posts.getPost(workspaceId, id);
    const [due, started] = [msOf(post.scheduledAt), msOf(post.startedAt)];
    expect(started).toBeGreaterThanOrEqual(due);
    expect(started - due).toBeLessThan(1000);
  }
});

test("a post starts before thousands of the 9,000 posts of another workspace that were due earlier", async () => {
  const insert = async (count: number, at: string) => {
    const workspaceId = newWorkspace();
    await posts.sql`
      insert into posts (id, workspace_id, status, content, options, media_ids, media, scheduled_at, created_via,
        created_at, updated_at)
      select gen_random_uuid(), ${workspaceId}, 'scheduled', 'hello', '{}', '{}', '[]', ${at}::text::timestamptz,
        'rest', now(), now()
      from generate_series(1, ${count}::int)`;
    return workspaceId;
  };
  await insert(9_000, new Date(Date.now() - 2_000).toISOString());
  const other = await insert(1, new Date(Date.now() - 1_000).toISOString());
  const logger = createLogger({ service: "posts", level: "silent" });

  await using _scheduler = startScheduler({ ...scheduler(), logger });
  await expect
    .poll(() => posts.sql`select 1 from posts where status = 'scheduled' limit 1`, {
      timeout: 20_000,
    })
    .toHaveLength(0);

  const later = await posts.sql`
    select 1
    from posts
    where started_at > (select started_at from posts where workspace_id = ${other})`;
  // In the order of their times, it would be in the last batch, beside one of another loop.
  expect(later.length).toBeGreaterThan(2_000);
});
