import { randomUUID } from "node:crypto";
import { limitReached, platformUnavailable } from "@postrider/platforms/publishing/outcome";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claimAccounts } from "#src/engagement/db/automation-claims.ts";
import { pollAccount } from "#src/engagement/jobs/poll-comments/poll-comments.ts";
import {
  claimAccount,
  createActiveRule,
  listRunTexts,
  readWaitSeconds,
  startAutomations,
  type Automations,
} from "./automation-fixture.ts";

let automations: Automations;
beforeEach(async () => {
  automations = await startAutomations();
});
afterEach(() => automations[Symbol.asyncDispose]());

async function listAnswered(workspaceId: string): Promise<readonly string[]> {
  const texts = await listRunTexts(automations, workspaceId);
  return texts.map((text) => text.replace(" prepared", "")).toSorted();
}

/** Returns the platform calls since this function was last called. */
function takeCalls(): readonly string[] {
  return automations.platform.calls.splice(0);
}

async function makeDue(): Promise<void> {
  await automations.sql`update automation_accounts set poll_at = now()`;
}

async function claim() {
  return await claimAccounts(automations.sql, {
    platform: "instagram",
    limit: 10,
    leaseMs: 20_000,
  });
}

test("a poll reads again only the comments on media whose number of comments has changed", async () => {
  const { platform } = automations;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  const quiet = platform.addMedia();
  platform.addMedia();
  platform.comment(quiet, "old", { createdAt: new Date(0) });
  platform.comment(mediaId, "link");
  await automations.poll();
  expect(takeCalls()).toEqual(["media newest", `comments ${quiet}`, `comments ${mediaId}`]);
  await automations.poll();
  expect(takeCalls()).toEqual(["media newest"]);
  platform.comment(mediaId, "link");
  await automations.poll();
  expect(takeCalls()).toEqual(["media newest", `comments ${mediaId}`]);
  expect(await listAnswered(workspaceId)).toHaveLength(2);
});

test("a poll reads no further pages of comments after it has read a comment that is older than the activation of the rule", async () => {
  const { platform } = automations;
  platform.pageSize = 10;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  for (let count = 0; count < 100; count++)
    platform.comment(mediaId, "link", { createdAt: new Date(count) });
  platform.comment(mediaId, "link");
  await automations.poll();
  expect(takeCalls()).toEqual(["media newest", `comments ${mediaId}`]);
  expect(await listAnswered(workspaceId)).toHaveLength(1);
});

test("comments that arrive while pages are read are neither lost nor answered twice", async () => {
  const { platform, sql } = automations;
  platform.pageSize = 3;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  const made: string[] = [];
  const write = () => made.push(platform.comment(mediaId, "link").id);
  for (let count = 0; count < 10; count++) write();
  platform.beforePage = async () => {
    if (made.length < 25) write();
    return await Promise.resolve(undefined);
  };
  for (let polls = 0; polls < 12; polls++) await automations.poll();

  expect(made).toHaveLength(25);
  expect(await listAnswered(workspaceId)).toEqual(made.toSorted());
  const [replies] = await sql`select count(*)::int as count from comment_actions`;
  expect(replies).toEqual({ count: 25 });
});

test("a backlog of comments is read in several polls of at most 20 pages each, and newer comments are read after it", async () => {
  const { platform } = automations;
  platform.pageSize = 2;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  const made = Array.from({ length: 90 }, () => platform.comment(mediaId, "link").id);
  await automations.poll();
  expect(takeCalls()).toHaveLength(21);
  expect(await listAnswered(workspaceId)).toHaveLength(40);
  made.push(platform.comment(mediaId, "link").id);
  for (let polls = 0; polls < 5; polls++) await automations.poll();
  expect(await listAnswered(workspaceId)).toEqual(made.toSorted());
});

test("when a comment is added and another one deleted between two polls, so that their number stays the same, the new comment is answered later", async () => {
  const { platform, sql } = automations;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  platform.comment(mediaId, "nice");
  await automations.poll();
  platform.media.get(mediaId)?.pop();
  const comment = platform.comment(mediaId, "link");
  await automations.poll();
  expect(await listAnswered(workspaceId)).toEqual([]);
  await sql`update automation_media set read_at = now()`;
  await automations.poll();
  expect(await listAnswered(workspaceId)).toEqual([comment.id]);
});

test("each poll for comments lists the newest media and another part of the older media, until every part has been listed", async () => {
  const { platform } = automations;
  platform.mediaPageSize = 2;
  const media = Array.from({ length: 7 }, () => platform.addMedia());
  const { workspaceId } = await createActiveRule(automations);
  const made = media.map((mediaId) => platform.comment(mediaId, "link").id);
  await automations.poll();
  expect(await listAnswered(workspaceId)).toHaveLength(4);
  expect(takeCalls().filter((call) => call.startsWith("media"))).toEqual([
    "media newest",
    "media 2",
  ]);
  await automations.poll();
  await automations.poll();
  expect(await listAnswered(workspaceId)).toEqual(made.toSorted());
  await automations.poll();
  expect(takeCalls().filter((call) => call.startsWith("media"))).toEqual([
    "media newest",
    "media 4",
    "media newest",
    "media 6",
    "media newest",
    "media 2",
  ]);
});

test("two processes never poll an account at the same time, and a process whose lease has ended stores nothing", async () => {
  const { platform, deps, sql } = automations;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  const comment = platform.comment(mediaId, "link");
  const [first, ...others] = [...(await claim()), ...(await claim())];
  expect(others).toEqual([]);
  if (first === undefined) throw new Error("the account was not claimed");
  platform.beforePage = async () => {
    platform.beforePage = () => Promise.resolve(undefined);
    await sql`update automation_accounts set lease_until = now()`;
    await makeDue();
    await pollAccount(deps, await claimAccount(automations));
    return undefined;
  };
  await pollAccount(deps, first);

  expect(await listAnswered(workspaceId)).toEqual([comment.id]);
  const [account] = await sql`select fence::int as fence, failures from automation_accounts`;
  expect(account).toEqual({ fence: 2, failures: 0 });
});

test("a process that crashes between two pages of comments loses no comment and answers none twice", async () => {
  const { platform, deps, sql } = automations;
  platform.pageSize = 2;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  const made = Array.from({ length: 7 }, () => platform.comment(mediaId, "link").id);
  const claimed = await claimAccount(automations);
  let pages = 0;
  const crashed = Promise.withResolvers<never>();
  platform.beforePage = async () => {
    pages += 1;
    if (pages === 3) return await crashed.promise;
    return undefined;
  };
  void pollAccount(deps, claimed);
  await expect.poll(() => pages).toBe(3);
  platform.beforePage = () => Promise.resolve(undefined);
  await sql`update automation_accounts set lease_until = now()`;
  await automations.poll();

  expect(await listAnswered(workspaceId)).toEqual(made.toSorted());
});

test("after failed polls an account waits twice as long each time, up to 30 minutes, until a poll succeeds", async () => {
  const { platform } = automations;
  const { workspaceId } = await createActiveRule(automations);
  const waits: number[] = [];
  platform.beforeList = () => platformUnavailable("down");
  for (let polls = 0; polls < 7; polls++) {
    await automations.poll();
    waits.push(await readWaitSeconds(automations, workspaceId));
  }
  expect(waits).toEqual([120, 240, 480, 960, 1800, 1800, 1800]);
  platform.beforeList = () => undefined;
  await automations.poll();
  expect(await readWaitSeconds(automations, workspaceId)).toBe(60);
});

test("after a rate limit, an account is not polled for as long as the platform says, and the polls of other accounts continue", async () => {
  const { platform } = automations;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  const other = await createActiveRule(automations);
  platform.comment(mediaId, "link");
  let isFirst = true;
  platform.beforePage = async () => {
    const failed = isFirst ? limitReached("rate_limited", "slow down", 3_600_000) : undefined;
    isFirst = false;
    return await Promise.resolve(failed);
  };
  expect(await automations.poll()).toBe(2);

  const waits = [
    await readWaitSeconds(automations, workspaceId),
    await readWaitSeconds(automations, other.workspaceId),
  ];
  expect(waits.toSorted((a, b) => a - b)).toEqual([60, 3_600]);
});

test("media whose comments cannot be read do not prevent the reads of other media of the account", async () => {
  const { platform } = automations;
  const { workspaceId, mediaId } = await createActiveRule(automations);
  const second = platform.addMedia();
  platform.comment(second, "link");
  const comment = platform.comment(mediaId, "link");
  platform.beforePage = async (id) =>
    await Promise.resolve(id === second ? platformUnavailable("broken") : undefined);
  await automations.poll();
  expect(await listAnswered(workspaceId)).toEqual([comment.id]);
  expect(await readWaitSeconds(automations, workspaceId)).toBe(60);
});

test("an account that must be connected again is checked every 5 minutes without a call to its platform", async () => {
  const { platform } = automations;
  const { workspaceId, accountId } = await createActiveRule(automations);
  platform.accounts.set(accountId, {
    workspaceId,
    platform: "instagram",
    status: "reconnect_required",
  });
  await automations.poll();
  expect(takeCalls()).toEqual([]);
  expect(await readWaitSeconds(automations, workspaceId)).toBe(300);
});

test("an account is polled only while it has an active rule, and at once after each activation", async () => {
  const { rpc, sql } = automations;
  const { workspaceId, ruleId } = await createActiveRule(automations);
  expect(await claim()).toHaveLength(1);
  await sql`update automation_accounts set lease_until = now()`;
  await rpc.updateAutomationRule({ workspaceId, ruleId, status: "paused" });
  await automations.poll();
  expect(takeCalls()).toEqual([]);
  expect(await sql`select poll_at = 'infinity' as is_idle from automation_accounts`).toEqual([
    { isIdle: true },
  ]);
  await rpc.updateAutomationRule({ workspaceId, ruleId, status: "active" });
  expect(await claim()).toHaveLength(1);
});

test("an account whose rule is activated while a poll ends is polled again", async () => {
  const { platform, rpc, sql, deps } = automations;
  const { workspaceId, ruleId, mediaId } = await createActiveRule(automations);
  platform.comment(mediaId, "link");
  const claimed = await claimAccount(automations);
  platform.beforePage = async () => {
    await rpc.updateAutomationRule({ workspaceId, ruleId, status: "paused" });
    await rpc.updateAutomationRule({ workspaceId, ruleId, status: "active" });
    return undefined;
  };
  await pollAccount(deps, claimed);
  expect(await sql`select poll_at = 'infinity' as is_idle from automation_accounts`).toEqual([
    { isIdle: false },
  ]);
});

test("the accounts of a workspace with the fewest polls in progress are polled first, however many accounts of another one have waited longer", async () => {
  const { sql } = automations;
  const insertDue = async (count: number, age: string) => {
    const workspaceId = randomUUID();
    await sql`
      insert into automation_accounts (account_id, workspace_id, platform, poll_at)
      select gen_random_uuid(), ${workspaceId}, 'instagram', now() - ${age}::interval
      from generate_series(1, ${count}::int)`;
    return workspaceId;
  };
  const claimTwo = async () => {
    const limits = { platform: "instagram", limit: 2, leaseMs: 20_000 };
    const claimed = await claimAccounts(sql, limits);
    return claimed.map(({ workspaceId }) => workspaceId).toSorted();
  };
  const busy = await insertDue(1_100, "1 hour");
  const second = await insertDue(1, "1 minute");
  expect(await claimTwo()).toEqual([busy, second].toSorted());
  const third = await insertDue(2, "1 second");
  expect(await claimTwo()).toEqual([third, busy].toSorted());
  expect(await claimTwo()).toEqual([third, busy].toSorted());
  expect(await claimTwo()).toEqual([busy, busy]);
});
