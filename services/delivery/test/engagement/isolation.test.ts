import { newId } from "@postrider/shared/ids";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listWatchedMedia } from "#src/engagement/db/automation-media.ts";
import { findRule, listRulesOfAccount, updateRule } from "#src/engagement/db/automation-rules.ts";
import {
  countRuns,
  findCommentTexts,
  listKnownRuns,
  listRunPage,
} from "#src/engagement/db/automation-runs.ts";
import { listResults, setBackfillStatus } from "#src/engagement/db/backfills.ts";
import { findHiddenComments, listHiddenComments } from "#src/engagement/db/hidden-comments.ts";
import { listAnswered } from "#src/engagement/db/private-replies.ts";
import { createActiveRule, startAutomations, type Automations } from "./automation-fixture.ts";
import { request } from "./fixture.ts";

let automations: Automations;
beforeEach(async () => {
  automations = await startAutomations();
});
afterEach(() => automations[Symbol.asyncDispose]());

/** Stores one automation rule, run, job and hidden comment in one workspace. */
async function fill() {
  const { platform, rpc, sql } = automations;
  const own = await createActiveRule(automations);
  const { workspaceId, accountId, mediaId, ruleId } = own;
  const { id: commentId } = platform.comment(mediaId, "link");
  await automations.poll();
  const [run] = (await rpc.listAutomationRuns({ workspaceId })).runs;
  const created = await rpc.createBackfill({ workspaceId, ruleId, mediaId });
  const hidden = { type: "hide", mediaId, commentId } as const;
  const account = { id: accountId, workspaceId, platform: "instagram" } as const;
  const hideId = await request(sql, account, hidden);
  await sql`
    update comment_actions
    set status = 'succeeded', finished_at = now(), external_id = 'an-id', comment_created_at = now()
    where id = ${hideId}`;
  return { ...own, commentId, runId: run?.id ?? "", backfillId: created.backfill?.id ?? "" };
}

test("the database queries of automation rules and comment actions find nothing and change nothing for the id of a wrong workspace", async () => {
  const { sql } = automations;
  const filled = await fill();
  const { accountId, mediaId, ruleId, commentId, runId, backfillId } = filled;
  const everything = { before: undefined, after: undefined };
  const page = { limit: 10, before: undefined, status: undefined };
  const readAll = async (workspaceId: string) => {
    const media = { workspaceId, accountId, mediaId };
    const account = { workspaceId, accountId };
    const results = await Promise.all([
      listRunPage(sql, workspaceId, { ...page, ruleId }),
      listKnownRuns(sql, { workspaceId, ruleIds: [ruleId], commentIds: [commentId] }),
      listRulesOfAccount(sql, account),
      listWatchedMedia(sql, account, [mediaId]),
      listAnswered(sql, account, [commentId]),
      listResults(sql, { id: backfillId, workspaceId }, { limit: 10, after: -1 }),
      listHiddenComments(sql, media, { range: everything, limit: 10 }),
      findHiddenComments(sql, media, [commentId]),
      countRuns(sql, workspaceId, [ruleId]),
      findCommentTexts(sql, workspaceId, [runId]),
    ]);
    return results.map((found) => [...found].length);
  };
  expect(await readAll(filled.workspaceId)).toEqual(Array(10).fill(1));
  const foreign = newId();
  expect(await readAll(foreign)).toEqual(Array(10).fill(0));

  const job = { id: backfillId, workspaceId: foreign };
  await expect(sql.begin((tx) => setBackfillStatus(tx, job, "failed"))).rejects.toThrow("missing");
  const rule = await findRule(sql, filled.workspaceId, ruleId);
  if (rule === undefined) throw new Error("the rule is missing");
  const changed = { ...rule, workspaceId: foreign, name: "stolen" };
  await sql.begin((tx) => updateRule(tx, changed, { isStopped: false }));
  expect(await findRule(sql, filled.workspaceId, ruleId)).toMatchObject({ name: rule.name });
});
