import { newId } from "@postrider/shared/ids";
import { beforeEach, afterEach, describe, expect, test } from "vitest";
import { storeSending } from "#src/engagement/db/automation-sending.ts";
import type { EndedPrivateReply } from "#src/engagement/domain/comment-action.ts";
import { skipStoppedRuns } from "#src/engagement/jobs/end-waiting-runs.ts";
import { finishRuns } from "#src/engagement/operations/finish-runs.ts";
import { listAutomationRuns } from "#src/engagement/operations/list-automation-runs.ts";
import {
  createActiveRule,
  listRunTexts,
  startAutomations,
  type Automations,
} from "./automation-fixture.ts";

const DAY_MS = 86_400_000;

let automations: Automations;
beforeEach(async () => {
  automations = await startAutomations();
});
afterEach(() => automations[Symbol.asyncDispose]());

/** Returns the ids of comments with a private reply that waits or has ended, in order. */
async function listReplies({ sql }: Automations): Promise<readonly string[]> {
  const rows = await sql<{ commentId: string; status: string }[]>`
    select comment_id, status
    from comment_actions
    where type = 'private_reply'
    order by created_at, id`;
  return rows.map(({ commentId, status }) => `${commentId} ${status}`);
}

async function countEvents({ sql }: Automations): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from outbox
    where type = 'postrider.engagement.v1.AutomationRunCompleted'`;
  return row?.count ?? 0;
}

describe("with the sending of private replies enabled,", () => {
  test("each comment with a keyword gets one private reply, and comments without a keyword are ignored", async () => {
    const { platform } = automations;
    const { workspaceId, mediaId, ruleId } = await createActiveRule(automations);
    platform.comment(mediaId, "link before", { createdAt: new Date(Date.now() - DAY_MS) });
    const wanted = platform.comment(mediaId, "LINK please");
    const excluded = platform.comment(mediaId, "link spam");
    platform.comment(mediaId, "nice");
    platform.comment(mediaId, "comment link", { isOwn: true });
    await automations.poll();

    expect(await listRunTexts(automations, workspaceId)).toEqual(
      expect.arrayContaining([`${wanted.id} prepared`, `${excluded.id} skipped excluded`]),
    );
    const { runs } = await automations.rpc.listAutomationRuns({ workspaceId });
    expect(runs).toHaveLength(2);
    expect(runs.find(({ commentId }) => commentId === wanted.id)).toMatchObject({
      ruleId,
      mediaId,
      author: { id: wanted.authorId, username: wanted.authorUsername },
      workspaceId,
      version: 1n,
    });
    expect(await listReplies(automations)).toEqual([`${wanted.id} queued`]);
    expect(await countEvents(automations)).toBe(1);
  });

  test("of two automation rules that match a comment the older rule answers, and the newer rule skips the comment", async () => {
    const { platform } = automations;
    const { workspaceId, accountId, mediaId, ruleId } = await createActiveRule(automations);
    const other = await createActiveRule(automations, { workspaceId, accountId });
    const comment = platform.comment(mediaId, "link");
    await automations.poll();

    const texts = async (id: string) => {
      const { runs } = await automations.rpc.listAutomationRuns({ workspaceId, ruleId: id });
      return runs.map(({ commentId, status, reason = "" }) => `${commentId} ${status} ${reason}`);
    };
    expect(await texts(ruleId)).toEqual([`${comment.id} prepared `]);
    expect(await texts(other.ruleId)).toEqual([`${comment.id} skipped already_replied`]);
    expect(await listReplies(automations)).toEqual([`${comment.id} queued`]);
  });

  test("when a comment has a private reply of one rule, a rule that is activated afterwards does not answer the comment", async () => {
    const { platform } = automations;
    const { workspaceId, accountId, mediaId } = await createActiveRule(automations);
    const comment = platform.comment(mediaId, "link", { createdAt: new Date(Date.now() + DAY_MS) });
    await automations.poll();
    await createActiveRule(automations, { workspaceId, accountId });
    platform.comment(mediaId, "nice", { createdAt: new Date(Date.now() + DAY_MS) });
    await automations.poll();

    expect(await listRunTexts(automations, workspaceId)).toEqual([
      `${comment.id} prepared`,
      `${comment.id} skipped already_replied`,
    ]);
    expect(await listReplies(automations)).toEqual([`${comment.id} queued`]);
  });

  test("a comment that a poll finds more than 7 days after it was written is skipped", async () => {
    const { platform, sql } = automations;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    await sql`update automation_rules set activated_at = now() - interval '30 days'`;
    await sql`update automation_sending set enabled_at = now() - interval '30 days'`;
    const twoMinutes = 120_000;
    const late = new Date(Date.now() - 7 * DAY_MS + twoMinutes);
    const old = platform.comment(mediaId, "link", { createdAt: new Date(Date.now() - 7 * DAY_MS) });
    const young = platform.comment(mediaId, "link", { createdAt: late });
    await automations.poll();

    expect((await listRunTexts(automations, workspaceId)).toSorted()).toEqual(
      [`${old.id} skipped too_old`, `${young.id} prepared`].toSorted(),
    );
    const [reply] = await sql`select comment_id, send_before from comment_actions`;
    const sendBefore = new Date(late.getTime() + 7 * DAY_MS - 60_000);
    expect(reply).toEqual({ commentId: young.id, sendBefore });
  });

  test("a comment that was written before sending was last enabled gets a prepared run and no private reply", async () => {
    const { platform, sql } = automations;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    await sql`update automation_rules set activated_at = now() - interval '1 hour'`;
    await storeSending(sql, false);
    const between = platform.comment(mediaId, "link", { createdAt: new Date(Date.now() - 1_000) });
    await storeSending(sql, true);
    await storeSending(sql, true);
    const after = platform.comment(mediaId, "link");
    await automations.poll();

    expect((await listRunTexts(automations, workspaceId)).toSorted()).toEqual(
      [`${between.id} prepared sending_blocked`, `${after.id} prepared`].toSorted(),
    );
    expect(await listReplies(automations)).toEqual([`${after.id} queued`]);
  });

  test("a process with sending enabled sends nothing once another process has blocked sending", async () => {
    const { platform, sql } = automations;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    await storeSending(sql, false);
    const comment = platform.comment(mediaId, "link");
    await automations.poll();

    expect(await listRunTexts(automations, workspaceId)).toEqual([
      `${comment.id} prepared sending_blocked`,
    ]);
    expect(await listReplies(automations)).toEqual([]);
  });

  test("a rule that is paused while a poll reads comments skips these comments", async () => {
    const { platform, rpc } = automations;
    const { workspaceId, mediaId, ruleId } = await createActiveRule(automations);
    const comment = platform.comment(mediaId, "link");
    platform.beforePage = async () => {
      await rpc.updateAutomationRule({ workspaceId, ruleId, status: "paused" });
      return undefined;
    };
    await automations.poll();

    expect(await listRunTexts(automations, workspaceId)).toEqual([
      `${comment.id} skipped rule_inactive`,
    ]);
    expect(await listReplies(automations)).toEqual([]);
  });

  test("a rule reads only the media that it names", async () => {
    const { platform } = automations;
    const first = platform.addMedia();
    const second = platform.addMedia();
    const { workspaceId } = await createActiveRule(automations, { media: { ids: [second] } });
    platform.comment(first, "link");
    const comment = platform.comment(second, "link");
    await automations.poll();

    expect(await listRunTexts(automations, workspaceId)).toEqual([`${comment.id} prepared`]);
    expect(platform.calls).toEqual([`media ${second}`, `comments ${second}`]);
  });

  test("comments with texts that Postgres cannot store do not stop the poll", async () => {
    const { platform } = automations;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    platform.comment(mediaId, "link \0", { authorUsername: "a\0\u{D800}b" });
    await automations.poll();

    const { runs } = await automations.rpc.listAutomationRuns({ workspaceId });
    expect(runs.map(({ author }) => author?.username)).toEqual(["a\u{FFFD}\u{FFFD}b"]);
  });
});

test("with the sending of private replies blocked, the runs of all matching rules end as prepared, and no private reply is stored", async () => {
  await using blocked = await startAutomations({ isSendingEnabled: false });
  const { platform } = blocked;
  const { workspaceId, accountId, mediaId } = await createActiveRule(blocked);
  await createActiveRule(blocked, { workspaceId, accountId });
  const comment = platform.comment(mediaId, "link");
  await blocked.poll();

  const ended = `${comment.id} prepared sending_blocked`;
  expect(await listRunTexts(blocked, workspaceId)).toEqual([ended, ended]);
  expect(await listReplies(blocked)).toEqual([]);
  expect(await countEvents(blocked)).toBe(2);
});

describe("when a rule is paused,", () => {
  /** Makes many runs of the rule wait: copies of one run that a poll has created. */
  async function makeWaiting({ sql }: Automations, count: number): Promise<void> {
    await sql`
      insert into automation_runs (id, workspace_id, account_id, rule_id, comment_id, media_id, status)
      select gen_random_uuid(), workspace_id, account_id, rule_id, 'copy-' || n, media_id, status
      from automation_runs, generate_series(1, ${count}) as n`;
    await sql`
      insert into comment_actions (
        id, workspace_id, account_id, platform, media_id, comment_id, type, text, call_key, rule_id, run_id, send_before,
        status, wake_at
      )
      select gen_random_uuid(), r.workspace_id, r.account_id, a.platform, r.media_id, r.comment_id, a.type, a.text,
        a.call_key, r.rule_id, r.id, a.send_before, 'queued', now()
      from automation_runs r, comment_actions a
      where r.comment_id like 'copy-%'`;
  }

  test("all waiting runs of the rule are skipped page by page, and each of them appends an event", async () => {
    const { platform, rpc, deps } = automations;
    const { workspaceId, mediaId, ruleId } = await createActiveRule(automations);
    platform.comment(mediaId, "link");
    await automations.poll();
    await makeWaiting(automations, 1_200);
    await rpc.updateAutomationRule({ workspaceId, ruleId, status: "paused" });
    while (await skipStoppedRuns(deps));

    const runs = await automations.sql`
      select status, reason, version::int as version, count(*)::int as count
      from automation_runs
      group by status, reason, version`;
    expect(runs).toEqual([
      { status: "skipped", reason: "rule_inactive", version: 2, count: 1_201 },
    ]);
    const replies = await automations.sql`
      select status, error_code, count(*)::int as count
      from comment_actions
      group by status, error_code`;
    expect(replies).toEqual([{ status: "failed", errorCode: "rule_inactive", count: 1_201 }]);
    expect(await countEvents(automations)).toBe(1_201);
    const [rule] = await automations.sql`select skip_before from automation_rules`;
    expect(rule).toEqual({ skipBefore: null });
  });

  test("its waiting runs are skipped even if those of a rule that was stopped before cannot be changed", async () => {
    const { platform, rpc, deps, sql } = automations;
    const stopped = [await createActiveRule(automations), await createActiveRule(automations)];
    for (const { mediaId } of stopped) platform.comment(mediaId, "link");
    await automations.poll();
    const versions = ["9223372036854775807", String(2 ** 40)];
    for (const [index, { workspaceId, ruleId }] of stopped.entries()) {
      await sql`
        update automation_runs
        set version = ${versions[index] ?? ""}::text::bigint
        where rule_id = ${ruleId}`;
      await rpc.updateAutomationRule({ workspaceId, ruleId, status: "paused" });
    }
    while (await skipStoppedRuns(deps));
    const runs = await sql`
      select rule_id, status
      from automation_runs
      group by rule_id, status
      order by rule_id = ${stopped[0]?.ruleId ?? ""} desc`;
    expect(runs).toEqual([
      { ruleId: stopped[0]?.ruleId, status: "prepared" },
      { ruleId: stopped[1]?.ruleId, status: "skipped" },
    ]);
  });

  test("a new activation of the rule does not resume its waiting runs", async () => {
    const { platform, rpc, deps } = automations;
    const { workspaceId, mediaId, ruleId } = await createActiveRule(automations);
    const before = platform.comment(mediaId, "link");
    await automations.poll();
    await rpc.updateAutomationRule({ workspaceId, ruleId, status: "paused" });
    await rpc.updateAutomationRule({ workspaceId, ruleId, status: "active" });
    const after = platform.comment(mediaId, "link");
    await automations.poll();
    while (await skipStoppedRuns(deps));

    expect((await listRunTexts(automations, workspaceId)).toSorted()).toEqual(
      [`${before.id} skipped rule_inactive`, `${after.id} prepared`].toSorted(),
    );
  });

  test("the run of a private reply that may have been sent stays open until the outcome is known", async () => {
    const { platform, rpc, deps, sql } = automations;
    const { workspaceId, mediaId, ruleId } = await createActiveRule(automations);
    const comment = platform.comment(mediaId, "link");
    await automations.poll();
    await sql`
      update comment_actions
      set status = 'calling', call_number = 1, open_unknowns = 1, call_until = now() + interval '1 minute'`;
    await rpc.updateAutomationRule({ workspaceId, ruleId, status: "revoked" });
    while (await skipStoppedRuns(deps));
    expect(await listRunTexts(automations, workspaceId)).toEqual([`${comment.id} prepared`]);

    const [reply] = await sql<EndedPrivateReply[]>`
      select id, run_id, workspace_id, account_id
      from comment_actions`;
    if (reply === undefined) throw new Error("the private reply is missing");
    await sql.begin((tx) => finishRuns(tx, [{ ...reply, result: { kind: "sent" } }]));
    await skipStoppedRuns(deps);
    expect(await listRunTexts(automations, workspaceId)).toEqual([`${comment.id} sent`]);
    expect(await sql`select skip_before from automation_rules`).toEqual([{ skipBefore: null }]);
  });

  test("its waiting runs are skipped even if runs with an unknown outcome exist for many rules that were stopped before", async () => {
    const { platform, rpc, deps, sql } = automations;
    const { workspaceId, mediaId, ruleId } = await createActiveRule(automations);
    const comment = platform.comment(mediaId, "link");
    await automations.poll();
    await rpc.updateAutomationRule({ workspaceId, ruleId, status: "revoked" });
    // An old prepared run without a private reply acts like a run whose private reply has an
    // unknown outcome: neither can be skipped.
    await sql`
      with stopped as (
        insert into automation_rules
        select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'skip_before', now() - interval '1 second'))).*
        from automation_rules r, generate_series(1, 100)
        returning id
      )
      insert into automation_runs (id, workspace_id, account_id, rule_id, comment_id, media_id, status, created_at)
      select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), id, 'c', 'm', 'prepared', now() - interval '1 hour'
      from stopped`;
    await skipStoppedRuns(deps);
    expect(await listRunTexts(automations, workspaceId)).toEqual([
      `${comment.id} skipped rule_inactive`,
    ]);
  });
});

test("the end of a private reply ends the rule's run once, and a success of the reply that is reported later gives the run the status sent", async () => {
  const { platform, sql } = automations;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  const comment = platform.comment(mediaId, "link");
  await automations.poll();
  const [reply] = await sql<EndedPrivateReply[]>`
    select id, run_id, workspace_id, account_id
    from comment_actions`;
  if (reply === undefined) throw new Error("the private reply is missing");
  const fail = (code: "outcome_unknown" | "content_rejected" | "duplicate_on_platform") =>
    finish({ ...reply, result: { kind: "failed", code, message: "" } });
  const finish = (end: EndedPrivateReply) => sql.begin((tx) => finishRuns(tx, [end]));

  await fail("outcome_unknown");
  await fail("content_rejected");
  expect(await listRunTexts(automations, workspaceId)).toEqual([
    `${comment.id} failed outcome_unknown`,
  ]);
  await finish({ ...reply, result: { kind: "sent" } });
  await finish({ ...reply, result: { kind: "sent" } });
  await fail("duplicate_on_platform");
  expect(await listRunTexts(automations, workspaceId)).toEqual([`${comment.id} sent`]);
  expect(await countEvents(automations)).toBe(2);
  const ref = { workspaceId, id: reply.runId };
  const foreign = { workspaceId: newId(), id: reply.runId };
  expect(await listAutomationRuns(sql, [foreign])).toEqual([]);
  expect(await listAutomationRuns(sql, [ref])).toMatchObject([{ status: "sent", version: 3n }]);
});

test("the run of a rule whose private reply the platform refuses as too late ends with the reason too_old", async () => {
  const { platform, sql } = automations;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  const comment = platform.comment(mediaId, "link");
  await automations.poll();
  const [reply] = await sql<EndedPrivateReply[]>`
    select id, run_id, workspace_id, account_id
    from comment_actions`;
  if (reply === undefined) throw new Error("the private reply is missing");
  const result = { kind: "failed", code: "missed", message: "too late" } as const;
  await sql.begin((tx) => finishRuns(tx, [{ ...reply, result }]));
  expect(await listRunTexts(automations, workspaceId)).toEqual([`${comment.id} skipped too_old`]);
});

test("the list of runs of automation rules can be filtered by rule and status, and its pages contain every run", async () => {
  const { platform, rpc } = automations;
  const { workspaceId, mediaId, ruleId } = await createActiveRule(automations);
  for (let count = 0; count < 5; count++) platform.comment(mediaId, "link");
  for (let count = 0; count < 3; count++) platform.comment(mediaId, "link spam");
  await automations.poll();

  const all: string[] = [];
  let cursor = "";
  do {
    const filter = { workspaceId, ruleId, status: "skipped", limit: 2 };
    const page = await rpc.listAutomationRuns({ ...filter, cursor });
    all.push(...page.runs.map(({ status }) => status));
    cursor = page.nextCursor ?? "";
  } while (cursor !== "");
  expect(all).toEqual(["skipped", "skipped", "skipped"]);
  await expect(rpc.listAutomationRuns({ workspaceId, status: "queued" })).rejects.toMatchObject({
    reason: "invalid_request",
  });
});

test("runs and rules have the texts of their comments and the number of their runs only when a list asks for them", async () => {
  const { platform, rpc, sql } = automations;
  const { workspaceId, mediaId, ruleId } = await createActiveRule(automations);
  platform.comment(mediaId, `link ${"a".repeat(500)}`);
  const { id } = platform.comment(mediaId, "link for an inbox that forgets");
  await automations.poll();
  await sql`delete from inbox_comments where comment_id = ${id}`;

  const listTexts = async (withTexts: boolean) =>
    (await rpc.listAutomationRuns({ workspaceId, ruleId, withTexts })).runs.flatMap(
      ({ commentText }) => commentText ?? [],
    );
  expect(await listTexts(true)).toEqual([`link ${"a".repeat(195)}`]);
  expect(await listTexts(false)).toEqual([]);
  const counts = async (withRunCounts: boolean) =>
    (await rpc.listAutomationRules({ workspaceId, withRunCounts })).rules.map(
      ({ runCount }) => runCount,
    );
  expect(await counts(true)).toEqual([2]);
  expect(await counts(false)).toEqual([undefined]);
});
