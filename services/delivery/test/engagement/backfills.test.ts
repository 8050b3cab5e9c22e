import { limitReached, platformUnavailable } from "@postrider/platforms/publishing/outcome";
import { newId } from "@postrider/shared/ids";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { matchTurns } from "#src/engagement/operations/match-comments.ts";
import { createActiveRule, newRule, startAutomations } from "./automation-fixture.ts";

const DAY_MS = 86_400_000;

let workspaceId: string;
let ruleId: string;
let mediaId: string;

const automations = await startAutomations();
afterAll(() => automations[Symbol.asyncDispose]());
beforeEach(async () => {
  const { platform, rpc } = automations;
  platform.pageSize = 50;
  platform.beforePage = () => Promise.resolve(undefined);
  workspaceId = newId();
  mediaId = platform.addMedia();
  const accountId = platform.connectAccount(workspaceId);
  const { rule } = await rpc.createAutomationRule(newRule(workspaceId, accountId));
  ruleId = rule?.id ?? "";
});

/** Writes past comments, the newest last, one second apart. */
function writePast(texts: readonly string[]): readonly string[] {
  const firstAt = Date.now() - DAY_MS;
  return texts.map((text, index) => {
    const createdAt = new Date(firstAt + index * 1_000);
    return automations.platform.comment(mediaId, text, { createdAt }).id;
  });
}

const create = () => automations.rpc.createBackfill({ workspaceId, ruleId, mediaId });
const update = (backfillId: string, action: string) =>
  automations.rpc.updateBackfill({ workspaceId, backfillId, action });
const get = (backfillId: string, page: { limit?: number; cursor?: string } = {}) =>
  automations.rpc.getBackfill({ workspaceId, backfillId, ...page });

async function expectNothingSent(): Promise<void> {
  const { sql, platform } = automations;
  const [counts] = await sql`
    select (select count(*)::int from comment_actions where workspace_id = ${workspaceId}) as actions,
      (select count(*)::int from automation_runs where workspace_id = ${workspaceId}) as runs`;
  expect(counts).toEqual({ actions: 0, runs: 0 });
  expect(platform.sent).toEqual([]);
}

test("a preview of an automation rule shows what the rule would do with past comments, newest first, and stores nothing", async () => {
  const { rpc, platform, sql } = automations;
  platform.pageSize = 3;
  platform.comment(mediaId, "link", { createdAt: new Date(Date.now() - 8 * DAY_MS) });
  const [spam, link, nice] = writePast(["link spam", "LINK!", "nice"]);
  const first = await rpc.previewBackfill({ workspaceId, ruleId, mediaId });

  expect(first.items.map(({ comment, outcome, reason }) => [comment?.id, outcome, reason])).toEqual(
    [
      [nice, "no_match", undefined],
      [link, "prepare", undefined],
      [spam, "skip", "excluded"],
    ],
  );
  const cursor = first.nextCursor ?? "";
  const second = await rpc.previewBackfill({ workspaceId, ruleId, mediaId, cursor });
  expect(second.items.map(({ outcome, reason }) => [outcome, reason])).toEqual([
    ["skip", "too_old"],
  ]);
  expect(second.nextCursor).toBeUndefined();
  await expect(
    rpc.previewBackfill({ workspaceId, ruleId, mediaId: platform.addMedia(), cursor }),
  ).rejects.toMatchObject({ reason: "invalid_cursor" });
  const [jobs] = await sql`
    select count(*)::int as count
    from backfills
    where workspace_id = ${workspaceId}`;
  expect(jobs).toEqual({ count: 0 });
  await expectNothingSent();
});

test("each request to a backfill job adds the ordered results of one page of past comments, and the job's counts match its results", async () => {
  automations.platform.pageSize = 4;
  const ids = writePast(["link", "nice", "link spam", "link", "x", "link", "link", "y", "link"]);
  const created = await create();
  expect(created.backfill).toMatchObject({ status: "ready", ruleId, mediaId });
  expect(created.results).toHaveLength(4);
  const backfillId = created.backfill?.id ?? "";
  await update(backfillId, "prepare_next_page");
  const { backfill } = await update(backfillId, "prepare_next_page");

  expect(backfill).toMatchObject({
    status: "completed",
    counts: { scanned: 9n, matched: 6n, prepared: 5n, skipped: 1n },
  });
  const first = await get(backfillId, { limit: 5 });
  const second = await get(backfillId, { limit: 5, cursor: first.nextCursor ?? "" });
  const results = [...first.results, ...second.results];
  expect(results.map(({ comment }) => comment?.id)).toEqual(ids.toReversed());
  expect(second.nextCursor).toBeUndefined();
  expect(results[0]).toMatchObject({
    outcome: "prepared",
    comment: { text: "link", likeCount: 0n, replyCount: 0n, hidden: false },
  });
  const { backfills } = await automations.rpc.listBackfills({ workspaceId });
  expect(backfills).toEqual([backfill]);
  await expect(update(backfillId, "prepare_next_page")).rejects.toMatchObject({
    reason: "invalid_transition",
  });
  await expectNothingSent();
});

test("the previews of a workspace are matched one after the other, and one of another workspace does not wait for them", async () => {
  const { platform, rpc } = automations;
  writePast(["link"]);
  const other = newId();
  const accountId = platform.connectAccount(other);
  const { rule } = await rpc.createAutomationRule(newRule(other, accountId));
  const own = platform.addMedia();
  const turn = await matchTurns.acquire({ key: workspaceId });
  let isEnded = false;
  const waiting = rpc.previewBackfill({ workspaceId, ruleId, mediaId }).then(() => {
    isEnded = true;
  });
  await rpc.previewBackfill({ workspaceId: other, ruleId: rule?.id ?? "", mediaId: own });
  expect(isEnded).toBe(false);
  turn[Symbol.dispose]();
  await waiting;
});

test("a backfill job can be created for media with an id of 512 characters", async () => {
  mediaId = "m".repeat(512);
  automations.platform.media.set(mediaId, []);
  writePast(["link"]);
  const { backfill } = await create();
  expect(backfill).toMatchObject({ mediaId, counts: { prepared: 1n } });
});

test("a backfill job for an active rule sends nothing and creates no runs", async () => {
  const { platform } = automations;
  const active = await createActiveRule(automations, { workspaceId });
  writePast(["link", "link"]);
  const { backfill } = await automations.rpc.createBackfill({
    workspaceId,
    ruleId: active.ruleId,
    mediaId,
  });
  platform.comment(mediaId, "nice");
  await automations.poll();
  expect(backfill?.counts?.prepared).toBe(2n);
  await expectNothingSent();
});

describe("requests change the status of a backfill job:", () => {
  test.each([
    [["pause"], "paused"],
    [["pause", "resume"], "ready"],
    [["pause", "resume", "prepare_next_page"], "completed"],
    [["pause", "pause"], "invalid_transition"],
    [["resume"], "invalid_transition"],
    [["pause", "prepare_next_page"], "invalid_transition"],
    [["prepare_next_page", "pause"], "invalid_transition"],
    [["prepare_next_page", "resume"], "invalid_transition"],
    [["stop"], "invalid_request"],
  ])("the requests %j end with %s", async (actions, expected) => {
    automations.platform.pageSize = 1;
    writePast(["link", "link"]);
    const backfillId = (await create()).backfill?.id ?? "";
    let last = "";
    for (const action of actions)
      last = await update(backfillId, action).then(
        ({ backfill }) => backfill?.status ?? "",
        toReason,
      );
    expect(last).toBe(expected);
  });
});

function toReason(error: unknown): string {
  return error instanceof Error && "reason" in error ? String(error.reason) : String(error);
}

test("of two simultaneous requests for the next page of a backfill job, only one adds results", async () => {
  automations.platform.pageSize = 2;
  writePast(["link", "link", "link", "link", "link", "link"]);
  const backfillId = (await create()).backfill?.id ?? "";
  automations.platform.beforePage = async () => {
    automations.platform.beforePage = () => Promise.resolve(undefined);
    await expect(update(backfillId, "prepare_next_page")).rejects.toMatchObject({
      reason: "invalid_transition",
    });
    return undefined;
  };
  await update(backfillId, "prepare_next_page");
  expect((await get(backfillId)).backfill?.counts?.scanned).toBe(4n);
});

test("another process can add the results of a backfill page with which a process is too slow, and the slow process then stores nothing", async () => {
  const { platform, sql } = automations;
  platform.pageSize = 2;
  writePast(["link", "link", "link", "link"]);
  const backfillId = (await create()).backfill?.id ?? "";
  const late = Promise.withResolvers<undefined>();
  platform.beforePage = async () => await late.promise;
  const first = update(backfillId, "prepare_next_page");
  await expect.poll(async () => (await get(backfillId)).backfill?.status).toBe("preparing");
  platform.beforePage = () => Promise.resolve(undefined);
  await sql`update backfills set preparing_until = now() where id = ${backfillId}`;
  expect((await get(backfillId)).backfill?.status).toBe("ready");
  const { backfill } = await update(backfillId, "prepare_next_page");
  expect(backfill).toMatchObject({ status: "completed", counts: { scanned: 4n } });
  late.resolve(undefined);
  expect((await first).backfill).toMatchObject({ status: "completed", counts: { scanned: 4n } });
  expect((await get(backfillId)).results).toHaveLength(4);
});

test("a backfill job whose user pauses it during a request for the next page stores the results of the page and stays paused", async () => {
  const { platform } = automations;
  platform.pageSize = 1;
  writePast(["link", "link", "link"]);
  const backfillId = (await create()).backfill?.id ?? "";
  platform.beforePage = async () => {
    await update(backfillId, "pause");
    return undefined;
  };
  const { backfill } = await update(backfillId, "prepare_next_page");
  expect(backfill).toMatchObject({ status: "paused", counts: { scanned: 2n } });
});

test("comments that are written between two requests to a backfill job change no stored result and make no comment appear twice", async () => {
  const { platform } = automations;
  platform.pageSize = 2;
  const ids = writePast(["link", "link", "link", "link", "link"]);
  const backfillId = (await create()).backfill?.id ?? "";
  platform.comment(mediaId, "link");
  // The platform's cursor has lost its position: the next page begins with a comment that already
  // has a result.
  const comments = platform.media.get(mediaId) ?? [];
  const [moved] = comments.splice(1, 1);
  if (moved === undefined) throw new Error("the comment is missing");
  comments.splice(2, 0, moved);
  await update(backfillId, "prepare_next_page");
  const { backfill } = await update(backfillId, "prepare_next_page");
  const { results } = await get(backfillId);
  const read = results.map(({ comment }) => comment?.id);
  expect(new Set(read).size).toBe(read.length);
  expect(read.every((id) => ids.includes(id ?? ""))).toBe(true);
  expect(backfill?.counts?.scanned).toBe(BigInt(read.length));
});

function refused(code: "permission_missing" | "content_rejected") {
  return { kind: "refused", code, message: "" } as const;
}

describe("when a request asks a backfill job for its next page,", () => {
  test.each([
    ["an outage", "unavailable", "ready", platformUnavailable("down")],
    ["a limit", "unavailable", "ready", limitReached("rate_limited", "slow", 60_000)],
    ["a missing permission", "account_reconnect_required", "ready", refused("permission_missing")],
    ["an answer that the media is deleted", "failed", "failed", { kind: "missing" } as const],
    ["a definite refusal", "failed", "failed", refused("content_rejected")],
  ])(
    "the answer to %s of the platform is %s, and the job is %s",
    async (_, answer, status, failure) => {
      const { platform } = automations;
      platform.pageSize = 1;
      writePast(["link", "link"]);
      const backfillId = (await create()).backfill?.id ?? "";
      platform.beforePage = () => Promise.resolve(failure);
      const answered = await update(backfillId, "prepare_next_page").then(
        ({ backfill }) => backfill?.status,
        toReason,
      );
      expect(answered).toBe(answer);
      expect((await get(backfillId)).backfill?.status).toBe(status);
    },
  );

  test("a preview that the platform refuses for good is not asked for again at once", async () => {
    automations.platform.beforePage = () => Promise.resolve(refused("content_rejected"));
    await expect(
      automations.rpc.previewBackfill({ workspaceId, ruleId, mediaId }),
    ).rejects.toMatchObject({ reason: "unavailable", retryAfterMs: 60_000 });
  });

  test("no backfill job is created when the platform fails at the first page", async () => {
    automations.platform.beforePage = () => Promise.resolve({ kind: "missing" });
    await expect(create()).rejects.toMatchObject({ reason: "not_found" });
    automations.platform.beforePage = () => Promise.resolve(platformUnavailable("down"));
    await expect(create()).rejects.toMatchObject({ reason: "unavailable" });
    const { backfills } = await automations.rpc.listBackfills({ workspaceId });
    expect(backfills).toEqual([]);
  });
});

test("repeated requests with the same idempotency key create one backfill job, and read one page of comments", async () => {
  const { platform, rpc } = automations;
  writePast(["link"]);
  platform.calls.length = 0;
  const request = { workspaceId, ruleId, mediaId, idempotency: { key: "k", fingerprint: "f" } };
  const first = await rpc.createBackfill(request);
  const again = await rpc.createBackfill(request);
  expect(again).toEqual({ ...first, replayed: true });
  expect(platform.calls).toHaveLength(1);
  const { backfills } = await rpc.listBackfills({ workspaceId });
  expect(backfills).toHaveLength(1);
});

test("a workspace keeps its newest 100 backfill jobs: a new one takes the place of the oldest and of its results", async () => {
  const { sql } = automations;
  writePast(["link"]);
  const oldest = (await create()).backfill?.id ?? "";
  const second = (await create()).backfill?.id ?? "";
  await sql`
    insert into backfills (
      id, workspace_id, account_id, rule_id, media_id, status, pages, prepared, skipped, unmatched, bytes
    )
    select overlay(id::text placing to_char(number, 'FM000000') from 31)::uuid, workspace_id, account_id, rule_id, media_id, status, pages, 0, 0, 0, 0
    from backfills, generate_series(1, 98) as number
    where id = ${second}`;
  const newest = (await create()).backfill?.id ?? "";

  await expect(get(oldest)).rejects.toMatchObject({ reason: "not_found" });
  const results = await sql`select 1 from backfill_results where backfill_id = ${oldest}`;
  expect(results).toHaveLength(0);
  expect((await get(second)).results).toHaveLength(1);
  expect((await get(newest)).results).toHaveLength(1);
  const [row] = await sql`
    select count(*)::int from backfills where workspace_id = ${workspaceId}`;
  expect(row).toEqual({ count: 100 });
});

test("a backfill job whose results take over 100 MB fails with them, and gives way to the next job", async () => {
  const { sql, platform } = automations;
  platform.pageSize = 1;
  writePast(["link", "link", "link"]);
  const backfillId = (await create()).backfill?.id ?? "";
  await sql`update backfills set bytes = 99999900 where id = ${backfillId}`;

  const { backfill } = await update(backfillId, "prepare_next_page");
  expect(backfill).toMatchObject({ status: "failed", counts: { scanned: 2n } });
  expect((await get(backfillId)).results).toHaveLength(2);
  await expect(update(backfillId, "prepare_next_page")).rejects.toMatchObject({
    reason: "invalid_transition",
  });

  await create();
  await expect(get(backfillId)).rejects.toMatchObject({ reason: "not_found" });
});

test("backfill jobs cannot be read or changed from other workspaces", async () => {
  writePast(["link"]);
  const backfillId = (await create()).backfill?.id ?? "";
  const foreign = { workspaceId: newId(), backfillId };
  const { rpc } = automations;
  await expect(rpc.getBackfill(foreign)).rejects.toMatchObject({ reason: "not_found" });
  await expect(rpc.updateBackfill({ ...foreign, action: "pause" })).rejects.toMatchObject({
    reason: "not_found",
  });
  expect((await rpc.listBackfills({ workspaceId: foreign.workspaceId })).backfills).toEqual([]);
});

test("the counts of a backfill job equal the numbers of its results, for any comments and any order of requests", async () => {
  const text = fc.constantFrom("link", "link spam", "nice", "spam", "LINKS", "링크 link");
  const action = fc.constantFrom("prepare_next_page", "pause", "resume", "comment", "delete");
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { maxLength: 12 }),
      fc.array(action, { maxLength: 8 }),
      fc.integer({ min: 1, max: 4 }),
      async (texts, actions, pageSize) => {
        const { platform } = automations;
        platform.pageSize = pageSize;
        mediaId = platform.addMedia();
        writePast(texts);
        const backfillId = (await create()).backfill?.id ?? "";
        for (const each of actions)
          if (each === "comment") platform.comment(mediaId, "link");
          else if (each === "delete") platform.media.get(mediaId)?.shift();
          else await update(backfillId, each).catch(() => undefined);

        const { backfill, results } = await get(backfillId, { limit: 100 });
        const count = (outcome: string) =>
          BigInt(results.filter((result) => result.outcome === outcome).length);
        const counts = backfill?.counts;
        expect(counts).toMatchObject({
          scanned: BigInt(results.length),
          prepared: count("prepared"),
          skipped: count("skipped"),
        });
        expect(counts?.matched).toBe((counts?.prepared ?? 0n) + (counts?.skipped ?? 0n));
        expect((counts?.matched ?? 1n) <= (counts?.scanned ?? 0n)).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
});
