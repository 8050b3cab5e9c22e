import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterEach, beforeEach, expect, test } from "vitest";
import { measureAutomations } from "#src/engagement/jobs/count-backlogs.ts";
import { startSkipStoppedRuns } from "#src/engagement/jobs/end-waiting-runs.ts";
import { startPollComments } from "#src/engagement/jobs/poll-comments/poll-comments.ts";
import { readSeries } from "../publishing/metric-values.ts";
import {
  createActiveRule,
  listRunTexts,
  startAutomations,
  type Automations,
} from "./automation-fixture.ts";

let automations: Automations;
beforeEach(async () => {
  automations = await startAutomations({ commentPollMs: 50 });
});
afterEach(() => automations[Symbol.asyncDispose]());

test("a poll for comments on an account whose platform does not answer delays the polls of no other account", async () => {
  const { platform, deps } = automations;
  const hung = await createActiveRule(automations);
  platform.comment(hung.mediaId, "link");
  const answer = Promise.withResolvers<undefined>();
  let isFirst = true;
  platform.beforePage = async () => {
    if (!isFirst) return undefined;
    isFirst = false;
    return await answer.promise;
  };
  await using _polls = startPollComments(deps);
  await eventually(() => !isFirst);
  const other = await createActiveRule(automations, { workspaceId: newId() });
  const comment = platform.comment(other.mediaId, "link");
  await eventually(async () => {
    expect(await listRunTexts(automations, other.workspaceId)).toContain(`${comment.id} prepared`);
  });
  expect(await listRunTexts(automations, hung.workspaceId)).toEqual([]);
  answer.resolve(undefined);
  await eventually(async () => {
    expect(await listRunTexts(automations, hung.workspaceId)).not.toEqual([]);
  });
});

test("two processes together answer each comment once, and skip the waiting runs of a paused automation rule", async () => {
  const { platform, deps, rpc, sql } = automations;
  const { workspaceId, ruleId, mediaId } = await createActiveRule(automations);
  await using _first = startPollComments(deps);
  await using _second = startPollComments(deps);
  await using _skipping = startSkipStoppedRuns(deps);
  const ids = Array.from({ length: 30 }, () => platform.comment(mediaId, "link").id);
  await eventually(async () => {
    expect(await listRunTexts(automations, workspaceId)).toHaveLength(30);
  });
  await rpc.updateAutomationRule({ workspaceId, ruleId, status: "paused" });
  await eventually(async () => {
    expect((await listRunTexts(automations, workspaceId)).toSorted()).toEqual(
      ids.map((id) => `${id} skipped rule_inactive`).toSorted(),
    );
  });
  const [replies] = await sql`select count(*)::int as count from comment_actions`;
  expect(replies).toEqual({ count: 30 });
});

test("a process on a copy of the data polls no comments and does not change when the sending of private replies was enabled", async () => {
  const { platform, deps, sql } = automations;
  await createActiveRule(automations);
  await sql`delete from automation_sending`;
  let asked = 0;
  const isOwn = async () => {
    asked += 1;
    return await Promise.resolve(false);
  };
  const guard = { isOwn } as unknown as typeof deps.guard;
  await using _polls = startPollComments({ ...deps, guard });
  await eventually(() => asked > 2);
  expect(platform.calls).toEqual([]);
  expect(await sql`select 1 from automation_sending`).toEqual([]);
});

test("the time since the last check for accounts to poll grows while every check fails, and is reset by a successful check", async () => {
  const { deps } = automations;
  let isDown = true;
  let asked = 0;
  const isOwn = async () => {
    asked += 1;
    if (isDown) throw new Error("the database does not answer");
    return await Promise.resolve(true);
  };
  const guard = { isOwn } as unknown as typeof deps.guard;
  await using polls = startPollComments({ ...deps, guard });
  const startedAt = performance.now();
  await eventually(() => asked > 1);
  const sinceMs = performance.now() - startedAt;
  expect(polls.claimAgeMs()).toBeGreaterThanOrEqual(sinceMs);
  isDown = false;
  polls.nudge();
  await eventually(() => polls.claimAgeMs() < performance.now() - startedAt);
});

test("the metrics of automations count waiting private replies, accounts due to be polled, and accounts whose polls fail", async () => {
  const { platform, deps, sql } = automations;
  const { mediaId } = await createActiveRule(automations);
  platform.comment(mediaId, "link");
  const before = await readSeries();
  await automations.poll();
  await sql`
    update automation_accounts
    set poll_at = now() - interval '1 minute', failures = 3`;
  await measureAutomations(deps);

  const after = await readSeries();
  expect(after("automation_runs_waiting")).toBe(1);
  expect(after("automation_accounts_due")).toBe(1);
  expect(after('automation_accounts_failing{platform="instagram"}')).toBe(1);
  expect(after("automation_oldest_due_account_seconds")).toBeGreaterThanOrEqual(59);
  expect(after("automation_oldest_waiting_run_seconds")).toBeGreaterThan(0);
  const polls = 'automation_polls_total{platform="instagram",outcome="read"}';
  expect(after(polls) - before(polls)).toBe(1);
});
