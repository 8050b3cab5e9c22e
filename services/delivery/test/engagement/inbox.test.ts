import { CommentService } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { InboxService } from "@postrider/contracts/engagement/v1/inbox_service_pb";
import type { PlatformComment } from "@postrider/platforms/comments/connector";
import type { InboxCommentJson, InboxJson } from "@postrider/rest/dashboard/inbox";
import { newId } from "@postrider/shared/ids";
import { deriveCursorKeys } from "@postrider/shared/secrets/list-cursor";
import { findContext, runInContext } from "@postrider/shared/telemetry/request-context";
import { asClient } from "@postrider/shared/testing/audit";
import { eventually } from "@postrider/shared/testing/poll";
import { createTestPeer } from "@postrider/shared/testing/router";
import { afterAll, beforeEach, expect, test } from "vitest";
import { MAX_KEPT } from "#src/engagement/db/inbox-comments.ts";
import { removeAllOldRows } from "#src/engagement/jobs/remove-old-rows.ts";
import { createCommentRoutes } from "#src/engagement/rpc/comment-service.ts";
import { createInboxRoutes } from "#src/engagement/rpc/inbox-service.ts";
import { logger, openDatabase } from "../publishing/fixture.ts";
import { createActiveRule, startAutomations } from "./automation-fixture.ts";
import { COMMENT, CommentWorld, request, startActionWorker, untilAllEnded } from "./fixture.ts";

const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const { sql } = database;

/** The comments of tests have fixed dates, which must not become too old. */
const HISTORY_DAYS = 100_000;

let world: CommentWorld;
beforeEach(() => {
  world = new CommentWorld();
});

function clients({ historyDays = HISTORY_DAYS } = {}) {
  const deps = {
    sql,
    logger,
    accounts: world.clients(),
    connectors: { comments: { instagram: world.comments("instagram") } },
    settings: { historyDays },
    cursorKeys: deriveCursorKeys("delivery", ["a secret for tests"]),
    readTimeoutMs: 5_000,
    onEvents: () => undefined,
    nudgeActions: () => undefined,
  };
  const peer = createTestPeer((router) => {
    createCommentRoutes(deps)(router);
    createInboxRoutes(deps)(router);
  });
  return { comments: peer.client(CommentService), inbox: peer.client(InboxService) };
}

/** An account with comments on one piece of media, which a page has read. */
async function readComments(...comments: readonly Partial<PlatformComment>[]) {
  const account = world.addAccount();
  const { id: accountId, workspaceId } = account;
  const { comments: service, inbox } = clients();
  const page = comments.map((each) => ({ ...COMMENT, ...each, id: each.id ?? newId() }));
  world.page = () => ({ kind: "page", comments: page, next: undefined });
  const media = { workspaceId, accountId, mediaId: newId() };
  await service.listComments(media);
  return {
    ...media,
    service,
    inbox,
    page,
    list: async (more = {}, of = workspaceId) => {
      const { json } = await inbox.listInbox({ workspaceId: of, ...more });
      return JSON.parse(json) as InboxJson;
    },
  };
}

test("comments that were read are in the inbox, newest first, without those of the account itself", async () => {
  const { accountId, mediaId, list } = await readComments(
    { text: "older", createdAt: new Date("2026-11-20T10:00:00Z") },
    { text: "newer", createdAt: new Date("2026-11-20T11:00:00Z"), authorId: null },
    { text: "own", isOwn: true },
  );
  const { comments, open, nextCursor, readAt } = await list();
  expect(comments.map(({ text }) => text)).toEqual(["newer", "older"]);
  expect(comments[1]).toMatchObject({
    accountId,
    platform: "instagram",
    mediaId,
    postId: null,
    author: { id: "reader-1", username: "reader" },
    createdAt: "2026-11-20T10:00:00.000Z",
    likeCount: 3,
    hidden: false,
    state: "open",
  });
  expect({ open, nextCursor, readAt }).toEqual({
    open: { count: 2, isMore: false },
    nextCursor: null,
    readAt: null,
  });
});

test("a comment whose author has a longer name and id than any platform has is in the inbox without them", async () => {
  const authorId = "i".repeat(513);
  const { list } = await readComments({ authorId, authorUsername: "n".repeat(257) });
  expect((await list()).comments).toMatchObject([{ author: { id: null, username: null } }]);
});

test("comments that are read again keep their state, and show what has changed", async () => {
  const { service, inbox, list, page, ...media } = await readComments({ text: "first" });
  const [comment] = (await list()).comments;
  await inbox.setInboxState({ ...media, id: comment?.id ?? "", state: "done" });
  world.page = () => ({
    kind: "page",
    comments: page.map((each) => ({ ...each, text: "edited", likeCount: 9 })),
    next: undefined,
  });
  await service.listComments({ ...media });
  expect((await list()).comments).toMatchObject([
    { id: comment?.id, text: "edited", likeCount: 9, state: "done" },
  ]);
});

test("each change of a comment's state leaves one entry in the audit log, and setting the same state again leaves none", async () => {
  const { inbox, list, workspaceId, accountId } = await readComments({ id: "c1" });
  const id = (await list()).comments[0]?.id ?? "";
  for (const state of ["done", "done", "open"])
    await asClient(() => inbox.setInboxState({ workspaceId, id, state }));
  const entries = await sql`
    select action, actor_kind, subject_id, details
    from audit_log_deeds
    where workspace_id = ${workspaceId}
    order by id`;
  const entry = { action: "inbox_comment.set_state", actorKind: "key", subjectId: id };
  expect([...entries]).toEqual(
    ["done", "open"].map((state) => ({ ...entry, details: { state, accountId, commentId: "c1" } })),
  );
});

test("a comment that was done stays done when it is read again after its row was removed with the history", async () => {
  const createdAt = new Date(Date.now() - 401 * 86_400_000);
  const { inbox, list, page, ...media } = await readComments({ text: "old", createdAt }, {});
  const { comments } = await list();
  for (const { id } of comments) await inbox.setInboxState({ ...media, id, state: "done" });
  await sql`delete from inbox_comments where workspace_id = ${media.workspaceId}`;
  page[1] = { ...COMMENT, text: "new", createdAt: new Date() };
  const { comments: service } = clients({ historyDays: 400 });
  await service.listComments(media);
  const found = (await list()).comments.map(({ text, state }) => [text, state]);
  expect(found).toEqual([
    ["new", "open"],
    ["old", "done"],
  ]);
});

test("a comment that has the id of a comment on other media is in the inbox as one of its own, whatever was answered there", async () => {
  const id = "chosen-by-its-author";
  const { service, list, ...media } = await readComments({ id, text: "good product" });
  await using worker = startActionWorker(database, world);
  await request(
    sql,
    { ...media, id: media.accountId, platform: "instagram" },
    { commentId: id, mediaId: media.mediaId },
  );
  await untilAllEnded(sql);
  await worker[Symbol.asyncDispose]();
  const insult = { ...COMMENT, id, text: "insults", authorId: "stranger", authorUsername: "s" };
  world.page = () => ({ kind: "page", comments: [insult], next: undefined });
  await service.listComments({ ...media, mediaId: "other-media" });
  const { comments } = await list();
  const shown = new Map(
    comments.map(({ mediaId, text, author, state }) => [
      mediaId,
      { text, author: author.id, state },
    ]),
  );
  expect(shown).toEqual(
    new Map([
      [media.mediaId, { text: "good product", author: "reader-1", state: "answered" }],
      ["other-media", { text: "insults", author: "stranger", state: "open" }],
    ]),
  );
});

test("a comment of another author with the id of a deleted one on the same media is open and has its own author", async () => {
  const { service, inbox, list, page, ...media } = await readComments({ text: "good product" });
  const [first] = (await list()).comments;
  await inbox.setInboxState({ ...media, id: first?.id ?? "", state: "done" });
  const insult = { text: "insults", authorId: "stranger", authorUsername: null };
  world.page = () => ({
    kind: "page",
    comments: page.map((each) => ({ ...each, ...insult })),
    next: undefined,
  });
  await service.listComments(media);
  expect((await list()).comments).toMatchObject([
    { text: "insults", author: { id: "stranger", username: null }, state: "open" },
  ]);
});

test("a comment can be done and open again, but not by another workspace", async () => {
  const { workspaceId, inbox, list } = await readComments({});
  const id = (await list()).comments[0]?.id ?? "";
  const set = async (state: string, of = workspaceId) => {
    const { json } = await inbox.setInboxState({ workspaceId: of, id, state });
    return (JSON.parse(json) as InboxCommentJson).state;
  };
  expect(await set("done")).toBe("done");
  expect(await list({ state: "open" })).toMatchObject({ comments: [], open: { count: 0 } });
  expect(await set("open")).toBe("open");
  await expect(set("done", newId())).rejects.toMatchObject({ reason: "not_found" });
  await expect(set("answered")).rejects.toMatchObject({ reason: "invalid_request" });
});

test("the inbox is filtered by state, account and platform, in pages, and shows nothing of another workspace", async () => {
  const { accountId, workspaceId, inbox, list } = await readComments({}, {}, {});
  const first = await list({ limit: 2, accountId, platform: "instagram", state: "open" });
  expect(first.comments).toHaveLength(2);
  const rest = { limit: 2, accountId, platform: "instagram", state: "open" };
  const second = await list({ ...rest, cursor: first.nextCursor });
  expect(second).toMatchObject({ comments: [{}], nextCursor: null });
  const ids = [...first.comments, ...second.comments].map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
  expect((await list({ accountId: newId() })).comments).toEqual([]);
  expect((await list({ platform: "x" })).comments).toEqual([]);
  expect(await list({}, newId())).toMatchObject({ comments: [], open: { count: 0 } });
  const foreign = inbox.listInbox({ workspaceId, cursor: first.nextCursor ?? "" });
  await expect(foreign).rejects.toMatchObject({ reason: "invalid_cursor" });
});

test("a reply that was sent marks its comment as answered, and hiding it shows", async () => {
  const { service, list, page, ...media } = await readComments({}, {});
  const [first = "", second = ""] = page.map(({ id }) => id);
  await service.requestCommentAction({ ...media, commentId: first, type: "reply", text: "10 €" });
  await service.requestCommentAction({ ...media, commentId: second, type: "hide" });
  expect((await list()).open.count).toBe(2);
  await using _worker = startActionWorker(database, world);
  await untilAllEnded(sql);
  const byId = new Map((await list()).comments.map((each) => [each.commentId, each]));
  expect(byId.get(first)).toMatchObject({ state: "answered", hidden: false });
  expect(byId.get(second)).toMatchObject({ state: "open", hidden: true });
});

test("a reply that the platform refused leaves its comment open", async () => {
  const { service, list, page, ...media } = await readComments({});
  const commentId = page[0]?.id ?? "";
  world.reactions = [() => ({ kind: "refused", code: "content_rejected", message: "no" })];
  await service.requestCommentAction({ ...media, commentId, type: "reply", text: "10 €" });
  await using _worker = startActionWorker(database, world);
  await untilAllEnded(sql);
  expect((await list()).comments).toMatchObject([{ state: "open" }]);
});

async function publish(account: { id: string; workspaceId: string }, given = {}) {
  const row = {
    target_id: newId(),
    workspace_id: account.workspaceId,
    post_id: newId(),
    account_id: account.id,
    platform: "instagram",
    external_id: newId(),
    published_at: new Date(Date.now() - 3_600_000),
    due_at: new Date(),
    ...given,
  };
  await sql`insert into target_metrics ${sql(row)}`;
  return row;
}

test("a refresh reads the newest publications of the workspace, at most once a minute, and reports new comments", async () => {
  const account = world.addAccount();
  const { workspaceId } = account;
  const publication = await publish(account);
  await publish(account, { published_at: new Date(Date.now() - 15 * 86_400_000) });
  await publish(account, { platform: "tiktok" });
  await publish(world.addAccount());
  const { inbox } = clients();
  const answers = await Promise.all(
    Array.from({ length: 3 }, () => inbox.refreshInbox({ workspaceId })),
  );
  expect(answers.filter(({ hasBegun }) => hasBegun)).toHaveLength(1);
  await eventually(async () => {
    const { json } = await inbox.listInbox({ workspaceId });
    const { comments, readAt } = JSON.parse(json) as InboxJson;
    expect(comments).toMatchObject([{ mediaId: publication.external_id, text: COMMENT.text }]);
    expect(readAt).not.toBeNull();
  });
  expect(world.reads.map(({ mediaId }) => mediaId)).toEqual([publication.external_id]);
  const events = await sql<{ type: string }[]>`
    select type from outbox where payload::jsonb ->> 'workspaceId' = ${workspaceId}`;
  expect(events).toEqual([{ type: "postrider.engagement.v1.InboxChanged" }]);
});

test("a refresh goes on when the deadline of the request has passed that began it", async () => {
  const account = world.addAccount();
  const { workspaceId } = account;
  await publish(account);
  const deadlines: unknown[] = [];
  world.page = () => {
    deadlines.push(findContext()?.deadlineAt);
    return { kind: "page", comments: [], next: undefined };
  };
  const { inbox } = clients();
  const context = { requestId: "request", deadlineAt: performance.now() + 60_000 };
  await runInContext(context, () => inbox.refreshInbox({ workspaceId }));
  await eventually(() => expect(deadlines).toEqual([undefined]));
});

test("a refresh does not ask an account that failed again, nor one that a limit holds", async () => {
  const workspaceId = newId();
  const [failing, held] = [world.addAccount({ workspaceId }), world.addAccount({ workspaceId })];
  await publish(failing);
  await publish(failing);
  await publish(held);
  await sql`
    insert into comment_action_queues (account_id, workspace_id, platform, not_before)
    values (${held.id}, ${workspaceId}, 'instagram', now() + interval '1 hour')`;
  world.page = () => ({ kind: "retryable", code: "rate_limited", message: "slow down" });
  const { inbox } = clients();
  await inbox.refreshInbox({ workspaceId });
  await eventually(async () => {
    const { json } = await inbox.listInbox({ workspaceId });
    expect((JSON.parse(json) as InboxJson).readAt).not.toBeNull();
  });
  expect(world.reads).toHaveLength(1);
});

test("a workspace keeps its newest 10,000 comments, and none that is older than the history", async () => {
  const { workspaceId, accountId, list, service, ...media } = await readComments({
    text: "newest",
    createdAt: new Date(),
  });
  await sql`
    insert into inbox_comments (
      id, workspace_id, account_id, platform, media_id, comment_id, text, commented_at, hidden, state
    )
    select gen_random_uuid(), ${workspaceId}, ${accountId}, 'instagram', 'm', n::text, '', now() - n * interval '1 minute',
      false, 'open'
    from generate_series(1, ${MAX_KEPT}) as n`;
  world.page = () => ({
    kind: "page",
    comments: [{ ...COMMENT, id: newId(), createdAt: new Date() }],
    next: undefined,
  });
  await service.listComments({ workspaceId, accountId, mediaId: media.mediaId });
  const [count] = await sql`
    select count(*)::int as count from inbox_comments where workspace_id = ${workspaceId}`;
  expect(count).toEqual({ count: MAX_KEPT });
  expect((await list()).open).toEqual({ count: 1_000, isMore: true });

  await sql`
    insert into inbox_comments (
      id, workspace_id, account_id, platform, media_id, comment_id, text, commented_at, hidden, state
    ) values ('01900000-0000-7000-8000-000000000000', ${workspaceId}, ${accountId}, 'x', 'm', 'old', '', now(), false, 'open')`;
  for await (const _ of removeAllOldRows({ sql, logger, settings: { historyDays: 400 } }));
  expect(await sql`select 1 from inbox_comments where comment_id = 'old'`).toEqual([]);
});

test("comments that polls of automations read are in the inbox as well", async () => {
  await using automations = await startAutomations();
  const { workspaceId, mediaId } = await createActiveRule(automations);
  automations.platform.comment(mediaId, "not a keyword");
  await automations.poll();
  const rows = await automations.sql<{ text: string; state: string }[]>`
    select text, state from inbox_comments where workspace_id = ${workspaceId}`;
  expect(rows).toEqual([{ text: "not a keyword", state: "open" }]);
});

test("a poll stores comments before it wakes the queue of their account, as the end of a reply does, so that they never deadlock", async () => {
  await using automations = await startAutomations();
  const { platform, sql: own } = automations;
  const { workspaceId, accountId, mediaId } = await createActiveRule(automations);
  const { id: commentId } = platform.comment(mediaId, "not a keyword");
  await automations.poll();
  const account = { id: accountId, workspaceId, platform: "instagram" } as const;
  await request(own, account, { mediaId, commentId });
  platform.comment(mediaId, "link");
  let polling: Promise<number> | undefined;
  await own.begin(async (tx) => {
    await tx`select from inbox_comments where comment_id = ${commentId} for no key update`;
    polling = automations.poll();
    polling.catch(() => undefined);
    await eventually(async () => {
      const waiting = await own`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      expect(waiting).toHaveLength(1);
    });
    const queue = await tx`
      select from comment_action_queues where account_id = ${accountId} for no key update nowait`;
    expect(queue).toHaveLength(1);
  });
  expect(await polling).toBe(1);
});
