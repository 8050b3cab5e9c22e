import { firstIdAt, newId } from "@postrider/shared/ids";
import { recordImport } from "@postrider/shared/workspaces/import-state";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { deleteRevokedRules } from "#src/db/queue-slot-rules.ts";
import { attempt, deliveryOf, startPostsForFile } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";
import { workspaceOf } from "./workspace.ts";

const posts = await startPostsForFile();
beforeEach(async () => {
  await posts.migrationSql`truncate posts, outbox cascade`;
  posts.peers.released.length = 0;
});

afterEach(() => void vi.useRealTimers());

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

/** Moves a post to another time: its id, the time of its creation and its last change. */
async function age(
  post: ShownPost,
  createdDays: number,
  changedDays = createdDays,
): Promise<string> {
  const id = `${firstIdAt(daysAgo(createdDays)).slice(0, 14)}${newId().slice(14)}`;
  await posts.migrationSql.begin(async (tx) => {
    await tx`alter table targets drop constraint targets_post_id_fkey`;
    await tx`
      update posts set id = ${id}, created_at = ${daysAgo(createdDays)}, updated_at = ${daysAgo(changedDays)}
      where id = ${post.id}`;
    await tx`update targets set post_id = ${id} where post_id = ${post.id}`;
    await tx`
      alter table targets add constraint targets_post_id_fkey
      foreign key (post_id) references posts (id) on delete cascade`;
  });
  return id;
}

async function published(): Promise<ShownPost> {
  const post = await workspaceOf(posts).create();
  const change = { attempt: attempt(1, "published") };
  await posts.report([deliveryOf(post)(0, "published", change)]);
  return post;
}

async function listIds(): Promise<readonly string[]> {
  const rows = await posts.sql<{ id: string }[]>`select id from posts order by id`;
  return rows.map(({ id }) => id);
}

test("a post that ended more than 400 days ago is removed with its targets, attempts and duplicate guards, and answers not_found", async () => {
  const old = await published();
  const id = await age(old, 401);
  const young = await published();

  await posts.removeOld();

  expect(await listIds()).toEqual([young.id]);
  await expect(posts.getPost(old.workspaceId, id)).rejects.toThrow("not_found");
  const [rows] = await posts.sql`
    select (select count(*)::int from targets) as targets, (select count(*)::int from target_attempts) as attempts,
      (select count(*)::int from duplicate_guards) as guards`;
  expect(rows).toEqual({ targets: 1, attempts: 1, guards: 1 });
});

test("a process whose clock is years ahead removes no post that the database does not find old", async () => {
  const post = await published();
  const id = await age(post, 399);
  vi.setSystemTime(daysAgo(-3000));
  await posts.removeOld();
  expect(await listIds()).toEqual([id]);
});

test("an old post whose rows are too many for one statement is skipped, and the others of its page are removed", async () => {
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) ids.push(await age(await published(), 401));
  const [, heavy = ""] = ids;
  await posts.migrationSql.unsafe(`
    create function refuse_heavy() returns trigger language plpgsql as $$
    begin
      if old.id = '${heavy}' then
        raise exception sqlstate '57014';
      end if;
      return old;
    end
    $$;
    create trigger refuse_heavy before delete on posts for each row execute function refuse_heavy()`);

  await posts.removeOld();
  await posts.migrationSql`drop function refuse_heavy cascade`;
  expect(await listIds()).toEqual([heavy]);
});

test("a scheduled post of a workspace that is being imported stays, although it arrives as a cancelled one and its targets later", async () => {
  const post = await published();
  const { workspaceId } = post;
  const id = await age(post, 401);
  await posts.sql`update posts set status = 'cancelled'`;
  await posts.sql`delete from targets`;
  await posts.sql.begin((tx) => recordImport(tx, workspaceId, "workspace.import"));
  await posts.removeOld();
  expect(await listIds()).toEqual([id]);
  await posts.sql.begin((tx) => recordImport(tx, workspaceId, "workspace.finish_import"));
  await posts.removeOld();
  expect(await listIds()).toEqual([]);
});

test("an old post stays if it changed within 400 days, and an old draft or scheduled post, and a post with a target in deletion, stay for ever", async () => {
  const { draft, scheduled } = workspaceOf(posts);
  const kept = [
    await age(await published(), 900, 399),
    await age(await draft(), 900),
    await age(await scheduled(), 900),
  ];
  const deleting = await age(await published(), 900);
  await posts.sql`update targets set status = 'deleting' where post_id = ${deleting}`;

  await posts.removeOld();

  expect(await listIds()).toEqual([...kept, deleting].toSorted());
});

test("the removal of a post gives its media back, so that they can be deleted", async () => {
  const { workspaceId, create } = workspaceOf(posts);
  const mediaId = posts.peers.addMedia(workspaceId);
  const post = await create({ mediaIds: [mediaId] });
  await posts.report([deliveryOf(post)(0, "published")]);
  const postId = await age(post, 401);

  await posts.removeOld();

  expect(posts.peers.released).toMatchObject([{ workspaceId, postId, mediaId }]);
});

test("no webhook and no quota counter notices the removal of a post", async () => {
  const post = await published();
  await posts.sql`delete from outbox`;
  const before =
    await posts.sql`select * from quota_usage where workspace_id = ${post.workspaceId}`;
  await age(post, 401);

  await posts.removeOld();

  expect(await posts.events()).toEqual([]);
  expect(
    await posts.sql`select * from quota_usage where workspace_id = ${post.workspaceId}`,
  ).toEqual(before);
});

test("a post that a request holds is not waited for, and is removed by the next run", async () => {
  const id = await age(await published(), 401);
  await posts.sql.begin(async (tx) => {
    await tx`select from posts where id = ${id} for update`;
    await posts.removeOld();
    expect(await listIds()).toEqual([id]);
  });

  await posts.removeOld();

  expect(await listIds()).toEqual([]);
});

test("the operator sees beforehand how many posts the next run removes", async () => {
  await age(await published(), 401);
  await age(await published(), 500);
  await published();

  const answer = await posts.retention.getRetention({});

  expect(answer).toMatchObject({ days: 400, removable: 2 });
  await posts.removeOld();
  expect(await listIds()).toHaveLength(1);
});

async function needOf(post: ShownPost) {
  const { posts: found } = await posts.mediaUses.batchGetMediaNeeds({ postIds: [post.id] });
  return found[0];
}

test("BatchGetMediaNeeds says that a post has ended at its last publication, and that drafts, scheduled posts and posts with an open target have not", async () => {
  const workspace = workspaceOf(posts);
  const mediaIds = [posts.peers.addMedia(workspace.workspaceId)];
  const draft = await workspace.draft({ mediaIds });
  const post = await workspace.create({ mediaIds });
  const open = await needOf(post);
  expect(open).toMatchObject({ workspaceId: workspace.workspaceId, mediaIds, version: 1n });
  expect(open?.endedAt).toBeUndefined();
  expect((await needOf(draft))?.endedAt).toBeUndefined();

  await posts.report([deliveryOf(post)(0, "published", { attempt: attempt(1, "published") })]);
  await posts.sql`update targets set published_at = ${daysAgo(3)} where post_id = ${post.id}`;
  await posts.sql`update posts set updated_at = ${daysAgo(1)} where id = ${post.id}`;
  const at = (await needOf(post))?.endedAt;
  expect(at === undefined ? 0 : Math.round((Date.now() / 1000 - Number(at.seconds)) / 86_400)).toBe(
    3,
  );
  await posts.sql`update targets set status = 'deleting' where post_id = ${post.id}`;
  expect((await needOf(post))?.endedAt).toBeUndefined();
});

test("BatchGetMediaNeeds refuses a malformed id, because a missing post lets its media be removed", async () => {
  const call = posts.mediaUses.batchGetMediaNeeds({ postIds: ["A"] });
  await expect(call).rejects.toThrow("invalid_request");
});

test("a queue slot rule that was revoked over 40 days ago is deleted, and younger and active ones stay", async () => {
  const workspaceId = newId();
  const insert = async (status: string, days: number) => {
    const id = newId();
    await posts.sql`
      insert into queue_slot_rules (id, workspace_id, name, weekdays, times, timezone, status, created_at, updated_at)
      values (${id}, ${workspaceId}, 'rule', '{mon}', '{09:00}', 'UTC', ${status}, now(), ${daysAgo(days)})`;
    return id;
  };
  await insert("revoked", 41);
  const kept = [await insert("revoked", 39), await insert("paused", 400)];
  expect(await deleteRevokedRules(posts.sql, 100)).toBe(1);
  const left = await posts.sql<{ id: string }[]>`
    select id from queue_slot_rules where workspace_id = ${workspaceId} order by id`;
  expect(left.map(({ id }) => id)).toEqual(kept);
});
