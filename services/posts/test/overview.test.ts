import type { OverviewJson } from "@postrider/rest/dashboard/overview";
import { expect, test } from "vitest";
import { deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";
import { inHours, workspaceOf } from "./workspace.ts";

const posts = await startPostsForFile();

async function read(workspaceId: string): Promise<OverviewJson> {
  const { json } = await posts.overview.getOverview({ workspaceId });
  return JSON.parse(json) as OverviewJson;
}

const fail = (post: ShownPost, ordinal: number, errorCode: string, errorMessage = "") => {
  const update = deliveryOf(post)(ordinal, "failed", { errorCode });
  return posts.report([{ ...update, errorMessage }]);
};

/** Two failures of one account with one code, one of another code, and one unknown outcome. */
async function failures(monthlyQuota = 100) {
  const workspace = workspaceOf(posts);
  posts.peers.limits.set(workspace.workspaceId, { monthlyQuota });
  const [x, telegram] = [workspace.connect(), workspace.connect("telegram")];
  const both = await workspace.create({ content: "both", accountIds: [x, telegram] });
  await fail(both, 0, "account_reconnect_required", "token revoked");
  await fail(both, 1, "content_rejected", "too rude");
  const later = await workspace.create({ content: "later", accountIds: [x] });
  await fail(later, 0, "account_reconnect_required");
  const lost = await workspace.create({ content: "lost", accountIds: [telegram] });
  await fail(lost, 0, "outcome_unknown");
  return { workspace, x, telegram, both, later, lost };
}

test("the overview groups failures by account and code, most first, with cure, words, and the newest posts", async () => {
  const { workspace, x, telegram, both, later, lost } = await failures();
  const { counts, needsYou } = await read(workspace.workspaceId);

  expect(counts).toMatchObject({
    all: { count: 3, isMore: false },
    failed: { count: 3, isMore: false },
    draft: { count: 0, isMore: false },
  });
  expect(needsYou.posts).toEqual({ count: 3, isMore: false });
  expect(needsYou.causes.map(({ accountId, code, failed }) => [accountId, code, failed])).toEqual(
    expect.arrayContaining([
      [x, "account_reconnect_required", 2],
      [telegram, "content_rejected", 1],
      [telegram, "outcome_unknown", 1],
    ]),
  );
  const [reconnect] = needsYou.causes;
  expect(reconnect).toMatchObject({
    accountId: x,
    cure: { kind: "reconnect" },
    cause: { en: "The account's access has ended." },
    retryable: 2,
    scheduled: 0,
    posts: [
      { postId: later.id, content: "later", message: null, targetId: later.targets[0]?.id },
      { postId: both.id, content: "both", message: "token revoked" },
    ],
  });
  expect(needsYou.causes.find(({ code }) => code === "outcome_unknown")).toMatchObject({
    cure: { kind: "resolve" },
    retryable: 0,
    posts: [{ postId: lost.id }],
  });
});

test("the overview counts scheduled posts that will fail on an account that needs to be connected again or was disconnected", async () => {
  const workspace = workspaceOf(posts);
  const [broken, gone, fine] = [workspace.connect(), workspace.connect(), workspace.connect()];
  const accountIds = [broken, gone, fine];
  const second = await workspace.scheduled({ content: "2", accountIds, scheduledAt: inHours(40) });
  const first = await workspace.scheduled({ content: "1", accountIds, scheduledAt: inHours(30) });
  const account = posts.peers.accounts.get(broken);
  posts.peers.accounts.set(broken, { ...account, status: "reconnect_required" });
  posts.peers.accounts.delete(gone);

  const { needsYou } = await read(workspace.workspaceId);
  expect(needsYou.posts.count).toBe(0);
  expect(needsYou.causes).toHaveLength(2);
  expect(needsYou.causes).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        accountId: broken,
        code: "account_reconnect_required",
        failed: 0,
        scheduled: 2,
        posts: [first, second].map(({ id, content }) =>
          expect.objectContaining({ postId: id, content, targetId: null, status: "scheduled" }),
        ),
      }),
      expect.objectContaining({ accountId: gone, code: "account_disconnected", scheduled: 2 }),
    ]),
  );
});

test("a count ends at 1,000 posts and says that there are more", async () => {
  const { workspaceId } = workspaceOf(posts);
  await posts.sql`
    insert into posts (id, workspace_id, status, content, options, media_ids, media, created_via, created_at, updated_at)
    select gen_random_uuid(), ${workspaceId}, case when n <= 1000 then 'published' else 'failed' end, '', '{}', '{}', '[]',
      'rest', now(), now()
    from generate_series(1, 2500) as n`;
  const { counts, needsYou } = await read(workspaceId);
  expect(counts).toMatchObject({
    all: { count: 1000, isMore: true },
    published: { count: 1000, isMore: false },
    failed: { count: 1000, isMore: true },
  });
  expect(needsYou).toEqual({ posts: { count: 1000, isMore: true }, causes: [] });
});

test("the overview of another workspace is empty", async () => {
  await failures();
  const { counts, needsYou } = await read(newWorkspace());
  expect(counts.all).toEqual({ count: 0, isMore: false });
  expect(needsYou.causes).toEqual([]);
});

test("a retry of an account sends only the failed targets of this account again, and a repeated one finds nothing", async () => {
  const { workspace, x, telegram, both, later } = await failures();
  const { workspaceId } = workspace;
  const statuses = async (post: ShownPost) =>
    (await workspace.reread(post)).targets.map(({ status }) => status);

  expect(await posts.overview.retryAccount({ workspaceId, accountId: x })).toMatchObject({
    retried: 2,
    refused: [],
    isMore: false,
  });
  expect(await statuses(both)).toEqual(["publishing", "failed"]);
  expect(await statuses(later)).toEqual(["publishing"]);
  expect(await posts.overview.retryAccount({ workspaceId, accountId: x })).toMatchObject({
    retried: 0,
  });
  // The other post of this account has an unknown outcome, so it is never sent again.
  await posts.report([deliveryOf(both)(0, "failed", { generation: 2 })]);
  const code = "content_rejected";
  expect(
    await posts.overview.retryAccount({ workspaceId, accountId: telegram, code }),
  ).toMatchObject({ retried: 1, refused: [] });
});

test("a retry of an account for one post sends its target only, and what refuses it is an error", async () => {
  // The unknown outcome uses one publication, so one of two is left.
  const { workspace, x, both, later } = await failures(2);
  const { workspaceId } = workspace;
  const retry = () =>
    posts.overview.retryAccount({ workspaceId, accountId: x, postId: later.id, code: "missed" });
  expect(await retry()).toMatchObject({ retried: 0 });
  const one = { workspaceId, accountId: x, postId: later.id };
  expect(await posts.overview.retryAccount(one)).toMatchObject({ retried: 1, isMore: false });
  expect((await workspace.reread(both)).targets[0]?.status).toBe("failed");
  await expect(posts.overview.retryAccount({ ...one, postId: both.id })).rejects.toMatchObject({
    reason: "quota_exceeded",
  });
  await expect(
    posts.overview.retryAccount({ ...one, workspaceId: newWorkspace() }),
  ).rejects.toMatchObject({ reason: "not_found" });
});

test("concurrent retries of an account send each target once", async () => {
  const { workspace, x, both, later } = await failures();
  const { workspaceId } = workspace;
  await posts.sql`delete from outbox`;
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => posts.overview.retryAccount({ workspaceId, accountId: x })),
  );
  expect(answers.reduce((sum, { retried }) => sum + retried, 0)).toBe(2);
  for (const post of [both, later])
    expect(
      (await workspace.events(post)).filter((name) => name === "PostPublishRequested"),
    ).toEqual(["PostPublishRequested"]);
});

test("a retry of an account names the posts that the quota does not allow, and leaves them as they are", async () => {
  // The unknown outcome uses one publication, so one of two is left.
  const { workspace, x, later } = await failures(2);
  const { workspaceId } = workspace;
  const answer = await posts.overview.retryAccount({ workspaceId, accountId: x });
  expect(answer).toMatchObject({
    retried: 1,
    refused: [{ postId: later.id, code: "quota_exceeded" }],
  });
});

test("a retry of an account reaches the posts that follow 50 refused ones", async () => {
  const workspace = workspaceOf(posts);
  const { workspaceId } = workspace;
  posts.peers.limits.set(workspaceId, { monthlyQuota: 1 });
  const accountIds = [workspace.connect()];
  const [accountId = ""] = accountIds;
  for (let index = 0; index < 51; index += 1)
    await fail(await workspace.create({ content: `Post ${index}`, accountIds }), 0, "missed");
  // It uses up the quota, which the failed posts have given back.
  await workspace.create({ content: "Other", accountIds: [workspace.connect()] });
  const retry = (after?: string) =>
    posts.overview.retryAccount({
      workspaceId,
      accountId,
      ...(after === undefined ? {} : { after }),
    });
  const first = await retry();
  expect(first).toMatchObject({ retried: 0, isMore: true });
  const second = await retry(first.nextAfter);
  expect(second).toMatchObject({ retried: 0, isMore: false });
  const refused = [...first.refused, ...second.refused].map(({ postId }) => postId);
  expect(new Set(refused).size).toBe(51);
});

test("a retry of an account of another workspace sends nothing", async () => {
  const { x } = await failures();
  const answer = await posts.overview.retryAccount({ workspaceId: newWorkspace(), accountId: x });
  expect(answer).toMatchObject({ retried: 0, refused: [], isMore: false });
});
