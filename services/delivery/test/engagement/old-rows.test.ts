import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { firstIdAt, newId } from "@postrider/shared/ids";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FORGET_AFTER_DAYS } from "#src/engagement/domain/forget-after.ts";
import { removeAllOldRows } from "#src/engagement/jobs/remove-old-rows.ts";
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

interface Action {
  readonly type: "reply" | "hide" | "unhide";
  readonly status: "queued" | "unknown" | "succeeded" | "failed";
  readonly commentId?: string;
  readonly mediaId?: string;
}

/** Inserts actions of the given ages in days, and names them by their ids. */
async function insertActions(actions: readonly (Action & { readonly days: number })[]) {
  const { sql } = automations;
  const workspaceId = newId();
  const ids: string[] = [];
  for (const { type, status, days, commentId = newId(), mediaId = "media" } of actions) {
    const at = new Date(Date.now() - days * DAY_MS);
    const id = `${firstIdAt(at).slice(0, 14)}7${newId().slice(15)}`;
    ids.push(id);
    const finishedAt = status === "queued" || status === "unknown" ? null : at;
    await sql`
      insert into comment_actions (
        id, workspace_id, account_id, platform, media_id, comment_id, comment_created_at, type, text, call_key, send_before,
        status, wake_at, created_at, finished_at
      ) values (
        ${id}, ${workspaceId}, ${workspaceId}, 'instagram', ${mediaId}, ${commentId}, ${at}, ${type},
        ${type === "reply" ? "thanks" : null}, 'key', ${at}, ${status}, ${at}, ${at}, ${finishedAt}
      )`;
  }
  return ids;
}

async function remove(historyDays: number, maxRows = 1_000): Promise<void> {
  const deps = { ...automations.deps, settings: { historyDays } };
  for await (const _page of removeAllOldRows(deps, maxRows));
}

/** Returns which of the actions are left, by their places. */
async function leftOf(ids: readonly string[]): Promise<readonly number[]> {
  const rows = await automations.sql<{ id: string }[]>`select id from comment_actions`;
  const left = new Set(rows.map(({ id }) => id));
  return ids.flatMap((id, index) => (left.has(id) ? [index] : []));
}

test("ended actions older than the setting are removed, and open, unknown and newer ones stay", async () => {
  const ids = await insertActions([
    { type: "reply", status: "succeeded", days: 401 },
    { type: "reply", status: "failed", days: 401 },
    { type: "reply", status: "queued", days: 401 },
    { type: "reply", status: "unknown", days: 401 },
    { type: "reply", status: "succeeded", days: 399 },
  ]);
  await remove(400);
  expect(await leftOf(ids)).toEqual([2, 3, 4]);
});

test("the action that keeps a comment hidden stays, and those that it replaced are removed", async () => {
  const hidden = await insertActions([
    { type: "hide", status: "succeeded", days: 503, commentId: "hidden" },
    { type: "unhide", status: "succeeded", days: 502, commentId: "hidden" },
    { type: "hide", status: "succeeded", days: 501, commentId: "hidden" },
    { type: "hide", status: "failed", days: 500, commentId: "hidden" },
  ]);
  const shown = await insertActions([
    { type: "hide", status: "succeeded", days: 502, commentId: "shown" },
    { type: "unhide", status: "succeeded", days: 501, commentId: "shown" },
  ]);
  // On Bluesky a stranger can choose the id of a comment on other media.
  const sameIds = await insertActions([
    { type: "hide", status: "succeeded", days: 502, commentId: "same" },
    { type: "unhide", status: "succeeded", days: 501, commentId: "same", mediaId: "other" },
  ]);
  await remove(400);
  expect(await leftOf(sameIds)).toEqual([0]);
  expect(await leftOf(hidden)).toEqual([2]);
  // The last action that shows the comment stays as long as one that hides it.
  expect(await leftOf(shown)).toEqual([1]);
  await remove(400);
  expect(await leftOf(shown)).toEqual([]);
});

test("a workspace with too many actions loses its oldest ones that are older than 40 days", async () => {
  const ids = await insertActions([
    { type: "reply", status: "succeeded", days: 60 },
    { type: "reply", status: "succeeded", days: 50 },
    { type: "reply", status: "succeeded", days: 42 },
    { type: "reply", status: "succeeded", days: 30 },
    { type: "reply", status: "succeeded", days: 20 },
  ]);
  await remove(400, 3);
  expect(await leftOf(ids)).toEqual([1, 2, 3, 4]);
  await remove(400, 0);
  expect(await leftOf(ids)).toEqual([3, 4]);
});

test("nothing is removed in the 40 days after a restore, whose searches look further back", async () => {
  const ids = await insertActions([{ type: "reply", status: "succeeded", days: 401 }]);
  const { sql } = automations;
  await sql`
    insert into deployment (system_identifier, database_oid, table_oid, timeline, deployment_id, seen_at, restored_at)
    values ('1', 1, 1, 1, 'default', now(), now())`;
  await remove(400);
  expect(await leftOf(ids)).toEqual([0]);
});

test("a comment whose private reply and run were removed gets neither a second reply nor a second run", async () => {
  const { platform, sql } = automations;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  const comment = platform.comment(mediaId, "link");
  await automations.poll();
  expect(await listRunTexts(automations, workspaceId)).toEqual([`${comment.id} prepared`]);

  // 401 days pass.
  const { createdAt } = comment;
  const past = firstIdAt(new Date(Date.now() - 401 * DAY_MS));
  Object.assign(comment, { createdAt: new Date(createdAt.getTime() - 401 * DAY_MS) });
  await sql`update automation_rules set activated_at = now() - interval '402 days'`;
  await sql`update automation_sending set enabled_at = now() - interval '402 days'`;
  await sql`delete from automation_media`;
  await sql`update comment_actions set id = ${past}, status = 'succeeded', finished_at = now() - interval '400 days'`;
  await sql`update automation_runs set id = ${past}, status = 'sent', created_at = now() - interval '400 days'`;
  await remove(400);
  expect(await listRunTexts(automations, workspaceId)).toEqual([]);

  await automations.poll();
  expect(platform.calls.filter((call) => call === `comments ${mediaId}`)).toHaveLength(2);
  expect(await listRunTexts(automations, workspaceId)).toEqual([]);
  expect(await sql`select 1 from comment_actions`).toHaveLength(0);
});

test.each(PLATFORM_IDS)(
  "no private reply to a comment on %s is accepted as late as its first one may be removed",
  (platform) => {
    const dm: { readonly windowDays?: number } = PLATFORM_FACTS[platform].rules.dm;
    expect(dm.windowDays ?? 0).toBeLessThan(FORGET_AFTER_DAYS);
  },
);
