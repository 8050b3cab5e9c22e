import { newId } from "@postrider/shared/ids";
import fc from "fast-check";
import { expect, test } from "vitest";
import { newWorkspace, type Posts, startPostsForFile } from "./fixture.ts";
import { findSharedDrift } from "./quota-drift.ts";
import { DAILY_RULE, inHours, workspaceOf } from "./workspace.ts";

const posts = await startPostsForFile();

type Change = Parameters<Posts["createPost"]>[0];

/**
 * Returns the number of transactions in which the posts of workspaces were stored, and the number
 * of these posts.
 */
async function countTransactions(workspaceIds: readonly string[]) {
  const [row] = await posts.sql<{ transactions: number; posts: number }[]>`
    select count(distinct xmin::text) as transactions, count(*) as posts
    from posts
    where workspace_id = any(${workspaceIds as string[]}::uuid[])`;
  return row;
}

/** Returns a request of each kind, in a workspace of its own. */
async function requestOf(kind: string): Promise<Change & { workspaceId: string }> {
  const { workspaceId, connect } = workspaceOf(posts);
  const request = { workspaceId, accountIds: [connect(), connect("telegram")], content: newId() };
  if (kind === "keyed") return { ...request, idempotency: { key: newId(), fingerprint: "same" } };
  if (kind === "media") return { ...request, mediaIds: [posts.peers.addMedia(workspaceId)] };
  if (kind === "force") return { ...request, force: true };
  if (kind === "draft") return { ...request, isDraft: true };
  if (kind === "scheduled") return { ...request, scheduledAt: inHours(2) };
  if (kind !== "slot") return request;
  await posts.slots.createQueueSlotRule({ workspaceId, ...DAILY_RULE });
  return { ...request, queueSlot: true };
}

const KINDS = ["now", "keyed", "media", "force", "draft", "scheduled", "slot"];

test("concurrent posts of every kind and of many workspaces share the transactions in which they are stored", async () => {
  const requests = await Promise.all(Array.from({ length: 6 }, () => KINDS.map(requestOf)).flat());
  // The first statements open connections, so that all others are sent at the same time.
  await Promise.all(requests.map((request) => posts.createPost(request)));
  const counted = await countTransactions(requests.map(({ workspaceId }) => workspaceId));
  expect(counted?.posts).toBe(requests.length);
  expect(counted?.transactions).toBeLessThanOrEqual(requests.length / 3);
});

test("requests that are refused fail alone: workspaces without quota, duplicates and used keys among others", async () => {
  const good = await Promise.all(Array.from({ length: 20 }, () => requestOf("now")));
  const exhausted = await Promise.all(Array.from({ length: 5 }, () => requestOf("now")));
  for (const { workspaceId } of exhausted) posts.peers.limits.set(workspaceId, { monthlyQuota: 1 });
  const duplicates = await Promise.all(Array.from({ length: 5 }, () => requestOf("now")));
  for (const request of duplicates) await posts.createPost(request);
  const repeated = await Promise.all(Array.from({ length: 5 }, () => requestOf("keyed")));
  const earlier = await Promise.all(repeated.map((request) => posts.createPost(request)));

  const [stored, refused, clashing, replayed] = await Promise.all([
    Promise.allSettled(good.map((request) => posts.createPost(request))),
    Promise.allSettled(exhausted.map((request) => posts.createPost(request))),
    Promise.allSettled(duplicates.map((request) => posts.createPost(request))),
    Promise.all(repeated.map((request) => posts.createPost(request))),
  ]);

  expect(stored.map(({ status }) => status)).toEqual(Array(20).fill("fulfilled"));
  const reasonsOf = (results: readonly PromiseSettledResult<unknown>[]) =>
    results.map((each) => each.status === "rejected" && (each.reason as Error).message);
  expect(reasonsOf(refused)).toEqual(Array(5).fill("quota_exceeded"));
  expect(reasonsOf(clashing)).toEqual(Array(5).fill("duplicate_content"));
  expect(replayed).toEqual(earlier);
});

test("a workspace whose drafts exceed its limit makes no post of another workspace fail", async () => {
  const full = await requestOf("draft");
  await posts.migrationSql`insert into post_limits (workspace_id, drafts) values (${full.workspaceId}, 3)`;
  const good = await Promise.all(Array.from({ length: 20 }, () => requestOf("draft")));
  const drafts = Array.from({ length: 10 }, () => ({ ...full, content: newId() }));
  const [own, others] = await Promise.all([
    Promise.allSettled(drafts.map((request) => posts.createPost(request))),
    Promise.allSettled(good.map((request) => posts.createPost(request))),
  ]);
  expect(others.map(({ status }) => status)).toEqual(Array(20).fill("fulfilled"));
  expect(own.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
});

/** One random request of a run: who asks for what, with which content and key, on which replica. */
const step = fc.record({
  workspace: fc.nat({ max: 1 }),
  accounts: fc.uniqueArray(fc.nat({ max: 2 }), { minLength: 1, maxLength: 3 }),
  content: fc.nat({ max: 9 }),
  key: fc.option(fc.nat({ max: 3 })),
  timing: fc.constantFrom("now", "now", "scheduled", "slot", "draft"),
  force: fc.boolean(),
  replica: fc.nat({ max: 1 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/**
 * Which runs have keys and slots. Requests with the same key or workspace's slots wait for each
 * other before they lock anything else, so that other locks meet only in runs without them.
 */
const kinds = fc.record({ keys: fc.boolean(), slots: fc.boolean() });

function restrict(each: Step, { keys, slots }: { keys: boolean; slots: boolean }): Step {
  const timing = each.timing === "slot" && !slots ? "now" : each.timing;
  return { ...each, timing, key: keys ? each.key : null };
}

/** The reasons for which a request of a run may be refused. */
const EXPECTED = new Set([
  "duplicate_content",
  "quota_exceeded",
  "idempotency_key_reused",
  "idempotency_conflict",
]);

async function startRun() {
  const workspaces = await Promise.all(
    Array.from({ length: 2 }, async (_, index) => {
      const workspaceId = newWorkspace();
      posts.peers.limits.set(workspaceId, { monthlyQuota: index === 0 ? 20 : 1000 });
      await posts.slots.createQueueSlotRule({ workspaceId, ...DAILY_RULE });
      return {
        workspaceId,
        accounts: Array.from({ length: 3 }, () => posts.peers.connectAccount(workspaceId, "x")),
        media: posts.peers.addMedia(workspaceId),
      };
    }),
  );
  const replicas = [posts.posts, posts.addReplica()];
  const send = async ({ workspace, accounts, content, key, timing, ...rest }: Step) => {
    const owner = workspaces[workspace] ?? workspaces[0];
    const { post } = (await replicas[rest.replica]?.createPost({
      workspaceId: owner?.workspaceId ?? "",
      accountIds: accounts.map((account) => owner?.accounts[account] ?? ""),
      content: `post ${content}`,
      createdVia: "rest",
      force: rest.force,
      isDraft: timing === "draft",
      queueSlot: timing === "slot",
      ...(content % 3 === 0 ? { mediaIds: [owner?.media ?? ""] } : {}),
      ...(timing === "scheduled" ? { scheduledAt: inHours(5) } : {}),
      ...(key === null ? {} : { idempotency: { key: `${key}`, fingerprint: `${content}` } }),
    })) ?? { post: undefined };
    return post?.id ?? "";
  };
  return { workspaceIds: workspaces.map(({ workspaceId }) => workspaceId), send };
}

/**
 * Returns what is wrong with the stored posts of workspaces: parts that are missing, or that two
 * posts have.
 */
async function findFaults(workspaceIds: readonly string[]) {
  const ids = workspaceIds as string[];
  return await posts.sql`
    select 'a part is missing' as fault
    from posts as post
    where workspace_id = any(${ids}::uuid[])
    and (
      not exists (select 1 from targets where post_id = post.id)
      or not exists (select 1 from audit_log_deeds where subject_id = post.id::text)
      or (status <> 'draft') <> exists (select 1 from outbox where key = post.id::text)
      or (queue_slot_rule_id is not null) <> exists (select 1 from slot_assignments where post_id = post.id)
      or (status <> 'draft') <> exists (
        select 1 from duplicate_guards join targets on targets.id = target_id where post_id = post.id
      )
    )
    union all
    select 'a quota counter is wrong: ' || wanted.workspace_id
    from (
      select workspace_id, count(*) filter (where due_day is not null) as targets
      from targets
      where workspace_id = any(${ids}::uuid[])
      group by workspace_id
    ) as wanted
    where targets <> (
      select coalesce(sum(reserved), 0)
      from quota_usage
      where quota_usage.workspace_id = wanted.workspace_id
      and length(period) = 7
    )
    union all
    select 'two unforced posts have the same content at the same time'
    from duplicate_guards as a
    join duplicate_guards as b using (account_id, content_hash)
    where a.workspace_id = any(${ids}::uuid[])
    and a.target_id < b.target_id
    and a.is_checked
    and b.is_checked
    and abs(extract(epoch from a.due_at - b.due_at)) < 86400`;
}

/**
 * Makes statements hold each lock for longer before they take the next one, so that a wrong order
 * of locks shows as a deadlock.
 */
async function slowDownLocks(): Promise<void> {
  await posts.migrationSql.unsafe(`
    drop trigger if exists slow_key on idempotency_keys;
    drop trigger if exists slow_quota on quota_usage;
    drop trigger if exists slow_usage on post_usage;
    create or replace function lock_guard(account_id uuid, content_hash bytea) returns void language sql volatile as $$
      select pg_advisory_xact_lock(hashtextextended(account_id::text || encode(content_hash, 'hex'), 0)), pg_sleep(0.004)
    $$;
    create or replace function slow_down() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(0.004);
      return null;
    end
    $$;
    create trigger slow_key after insert on idempotency_keys for each row execute function slow_down();
    create trigger slow_quota after insert or update on quota_usage for each row execute function slow_down();
    create trigger slow_usage after insert or update on post_usage for each row execute function slow_down();`);
}

test("random concurrent requests of two workspaces on two replicas never deadlock, and leave complete posts and correct counters", async () => {
  await slowDownLocks();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), kinds, async (all, kind) => {
      const steps = all.map((each) => restrict(each, kind));
      const { workspaceIds, send } = await startRun();
      const results = await Promise.allSettled(steps.map(send));
      const unexpected = results.flatMap((result) =>
        result.status === "rejected" && !EXPECTED.has((result.reason as Error).message)
          ? [String(result.reason)]
          : [],
      );
      expect(unexpected).toEqual([]);
      expect(await findFaults(workspaceIds)).toEqual([]);
      expect(await findSharedDrift(posts.sql)).toEqual([]);
      const byKey = new Map<string, Set<string>>();
      const accepted = new Set<string>();
      steps.forEach(({ workspace, key }, index) => {
        const result = results[index];
        if (result?.status !== "fulfilled") return;
        accepted.add(result.value);
        if (key === null) return;
        const name = `${workspace} ${key}`;
        byKey.set(name, (byKey.get(name) ?? new Set()).add(result.value));
      });
      for (const ids of byKey.values()) expect(ids.size).toBe(1);
      const stored = await posts.sql<{ id: string }[]>`
        select id from posts where workspace_id = any(${workspaceIds}::uuid[])`;
      expect(new Set(stored.map(({ id }) => id))).toEqual(accepted);
    }),
    { numRuns: 16, seed: 27, endOnFailure: true },
  );
}, 120_000);

test("when connections are lost while posts are stored, every post whose request succeeded is stored, and all stored posts are whole", async () => {
  const requests = await Promise.all(Array.from({ length: 10 }, () => KINDS.map(requestOf)).flat());
  const workspaceIds = requests.map(({ workspaceId }) => workspaceId);
  const sent = Promise.allSettled(requests.map((request) => posts.createPost(request)));
  for (let kills = 0; kills < 5; kills += 1)
    await posts.database.ownerSql`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database()
      and state = 'active'
      and pid <> pg_backend_pid()`;
  const results = await sent;
  const stored = await posts.sql<{ id: string }[]>`
    select id from posts where workspace_id = any(${workspaceIds}::uuid[])`;
  const ids = new Set(stored.map(({ id }) => id));
  const accepted = results.flatMap((each) => (each.status === "fulfilled" ? [each.value.id] : []));
  expect(accepted.filter((id) => !ids.has(id))).toEqual([]);
  expect(await findFaults(workspaceIds)).toEqual([]);
});

test("drafts of eight workspaces that two replicas store in opposite orders never deadlock", async () => {
  await slowDownLocks();
  const workspaces = Array.from({ length: 8 }, () => workspaceOf(posts)).map((each) => ({
    workspaceId: each.workspaceId,
    accountIds: [each.connect()],
  }));
  const sends = [
    { replica: posts.posts, owners: workspaces },
    { replica: posts.addReplica(), owners: workspaces.toReversed() },
  ].map(({ replica, owners }) => (index: number) => {
    const owner = owners[index % owners.length];
    return replica.createPost({ ...owner, content: newId(), createdVia: "rest", isDraft: true });
  });
  const drafts = sends.flatMap((send) => Array.from({ length: 160 }, (_, index) => send(index)));
  expect(await Promise.all(drafts)).toHaveLength(320);
});
