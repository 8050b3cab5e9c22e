import { limitReached, platformUnavailable } from "@postrider/platforms/publishing/outcome";
import { newId } from "@postrider/shared/ids";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claimActions } from "#src/engagement/db/action-claims.ts";
import { takeCalls } from "#src/engagement/db/automation-accounts.ts";
import { countAutomations } from "#src/engagement/db/backlog-counts.ts";
import { resumeAccounts } from "#src/engagement/db/reconnected-accounts.ts";
import { pollAccount } from "#src/engagement/jobs/poll-comments/poll-comments.ts";
import { insertDeployment } from "#src/publishing/db/deployment.ts";
import { DEPLOYMENT } from "../publishing/fixture.ts";
import {
  claimAccount,
  createActiveRule,
  listRunTexts,
  readWaitSeconds,
  startAutomations,
  type Automations,
} from "./automation-fixture.ts";
import { request } from "./fixture.ts";

const HOUR_MS = 3_600_000;

let automations: Automations;
beforeEach(async () => {
  automations = await startAutomations();
});
afterEach(() => automations[Symbol.asyncDispose]());

/** Sets the call budget of polls to `burst` calls at once, and 10 times as many in an hour. */
function allow(burst: number, pollBudget = { unitsPerPage: 1 }): void {
  const budget = { scope: "account", calls: burst * 10, windowMs: HOUR_MS, ...pollBudget } as const;
  Object.assign(automations.platform.privateReplies, { pollBudget: budget });
}

const takeCallNames = () => automations.platform.calls.splice(0);

describe("the call budget of an account", () => {
  test("ends a poll when the budget is used up, and the account waits until it may make another call", async () => {
    const { platform, sql } = automations;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    platform.pageSize = 1;
    const made = Array.from({ length: 5 }, () => platform.comment(mediaId, "link").id);
    allow(3);
    await automations.poll();
    expect(takeCallNames()).toEqual(["media newest", `comments ${mediaId}`, `comments ${mediaId}`]);
    expect(await readWaitSeconds(automations, workspaceId)).toBeGreaterThan(100);
    await automations.poll();
    expect(takeCallNames()).toEqual([]);

    allow(100);
    await sql`update automation_accounts set budget_until = '-infinity'`;
    await automations.poll();
    const texts = await listRunTexts(automations, workspaceId);
    expect(texts.map((text) => text.replace(" prepared", "")).toSorted()).toEqual(made.toSorted());
  });

  test("counts a page of comments as the calls that the platform needs for it", async () => {
    const { platform } = automations;
    const { mediaId } = await createActiveRule(automations);
    platform.comment(mediaId, "link");
    allow(2, { unitsPerPage: 2 });
    await automations.poll();
    expect(takeCallNames()).toEqual(["media newest"]);
  });

  test("leaves the older media for a later poll when only the units reserved for comments are left", async () => {
    const { platform } = automations;
    platform.mediaPageSize = 1;
    platform.addMedia();
    await createActiveRule(automations);
    platform.addMedia();
    allow(22);
    await automations.poll();
    expect(takeCallNames()).toEqual(["media newest", "media 1"]);
    await automations.poll();
    expect(takeCallNames()).toEqual(["media newest"]);
  });

  test("is charged one unit per post that a rule names, and polls read the comments on the older of these posts in turn", async () => {
    const { platform } = automations;
    platform.mediaPageSize = 1;
    const [a = "", b = "", c = "", newest = ""] = [1, 2, 3, 4].map(() => platform.addMedia());
    await createActiveRule(automations, { media: { ids: [a, b, c, newest] } });
    allow(23);
    await automations.poll();
    expect(takeCallNames()).toEqual(["media newest", `media ${a},${b}`]);
    allow(1_000);
    await automations.sql`update automation_accounts set budget_until = '-infinity'`;
    await automations.poll();
    expect(takeCallNames()).toEqual(["media newest", `media ${c}`]);
    await automations.poll();
    expect(takeCallNames()).toEqual(["media newest", `media ${a},${b},${c}`]);
  });

  test("is refilled by one unit per interval", async () => {
    const { sql } = automations;
    await createActiveRule(automations);
    const account = await claimAccount(automations);
    const limits = {
      leaseMs: 20_000,
      nextUnits: 2,
      bucket: { scope: "account", isPerPost: false, unitsPerCall: 1, intervalMs: 60_000, burst: 3 },
    } as const;
    expect(await takeCalls(sql, account, { ...limits, units: 3 })).toMatchObject({
      isTaken: true,
      unitsLeft: 0,
    });
    const refused = await takeCalls(sql, account, { ...limits, units: 1 });
    expect(refused?.isTaken).toBe(false);
    expect(refused?.unitWaitMs).toBeGreaterThan(110_000);
    await sql`update automation_accounts set budget_until = budget_until - interval '1 minute'`;
    expect(await takeCalls(sql, account, { ...limits, units: 1 })).toMatchObject({ isTaken: true });
  });
});

/** Goes on to the time of the next poll, when the budget has grown, and polls. */
async function pollInTime(): Promise<void> {
  const { sql } = automations;
  await sql`
    update automation_accounts
    set budget_until = budget_until - greatest(poll_at - now(), interval '0'),
      poll_at = now()`;
  await automations.poll();
}

describe("while the call budget of an account allows fewer reads than it needs,", () => {
  test("the comments on older media are read in turn with those on newer ones, which always have new comments", async () => {
    const { platform } = automations;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    const media = [mediaId, platform.addMedia(), platform.addMedia()];
    allow(2);
    const first = media.map((id) => platform.comment(id, "link").id);
    for (let polls = 0; polls < 15; polls += 1) {
      await pollInTime();
      for (const id of media) platform.comment(id, "link");
    }
    const answered = (await listRunTexts(automations, workspaceId)).map(
      (text) => text.split(" ")[0],
    );
    expect(answered).toEqual(expect.arrayContaining(first));
  });

  test("the comments on older media, which are listed in turn, are read beside those on the newest, which always has new comments", async () => {
    const { platform } = automations;
    platform.mediaPageSize = 1;
    const older = platform.addMedia();
    const { workspaceId } = await createActiveRule(automations);
    const newest = platform.addMedia();
    allow(4);
    const comment = platform.comment(older, "link").id;
    for (let polls = 0; polls < 12; polls += 1) {
      platform.comment(newest, "link");
      await pollInTime();
    }
    expect(await listRunTexts(automations, workspaceId)).toContain(`${comment} prepared`);
  });

  test("a post with a backlog of comments does not keep those on other posts from being read", async () => {
    const { platform } = automations;
    platform.pageSize = 1;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    const flooded = platform.addMedia();
    allow(2);
    const comment = platform.comment(mediaId, "link").id;
    for (let count = 0; count < 30; count += 1) platform.comment(flooded, "link");
    for (let polls = 0; polls < 6; polls += 1) {
      await pollInTime();
      for (let count = 0; count < 3; count += 1) platform.comment(flooded, "link");
    }
    expect(await listRunTexts(automations, workspaceId)).toContain(`${comment} prepared`);
  });

  test.each([1, 2])(
    "a poll waits until it can list the media and read a page of comments, which takes %s calls",
    async (unitsPerPage) => {
      const { platform, deps } = automations;
      Object.assign(deps.settings, { commentPollMs: 100 });
      const { workspaceId, mediaId } = await createActiveRule(automations);
      allow(3, { unitsPerPage });
      for (let polls = 0; polls < 4; polls += 1) {
        platform.comment(mediaId, "link");
        await pollInTime();
      }
      expect(await listRunTexts(automations, workspaceId)).toHaveLength(4);
    },
  );
});

test("the activation of an automation rule does not end the wait for a rate limit of the platform", async () => {
  const { platform, rpc } = automations;
  const { workspaceId, ruleId } = await createActiveRule(automations);
  platform.beforeList = () => limitReached("rate_limited", "slow down", HOUR_MS);
  await automations.poll();
  await rpc.updateAutomationRule({ workspaceId, ruleId, status: "paused" });
  await rpc.updateAutomationRule({ workspaceId, ruleId, status: "active" });
  expect(await readWaitSeconds(automations, workspaceId)).toBe(3600);
});

test("a rate limit hit by a comment action stops the comment polls of the account, and one hit by a poll stops its actions", async () => {
  const { platform, sql } = automations;
  const { workspaceId, accountId } = await createActiveRule(automations);
  const account = { id: accountId, workspaceId, platform: "instagram" } as const;
  await insertDeployment(sql, DEPLOYMENT);
  await request(sql, account);
  await sql`update comment_action_queues set not_before = now() + interval '1 hour'`;
  expect(await automations.poll()).toBe(0);
  await sql`update automation_accounts set poll_at = now()`;
  expect(await countAutomations(sql)).toMatchObject({ due: 0 });
  await sql`update comment_action_queues set not_before = null`;
  expect(await countAutomations(sql)).toMatchObject({ due: 1 });

  platform.beforeList = () => limitReached("rate_limited", "slow down", HOUR_MS);
  expect(await automations.poll()).toBe(1);
  const limits = {
    owner: newId(),
    leaseMs: 60_000,
    platforms: ["instagram"],
    maxAccounts: 16,
    maxPerAccount: 4,
    maxPerPlatform: 48,
  };
  const { actions } = await sql.begin((tx) => claimActions(tx, limits));
  expect(actions).toEqual([]);
  const [queue] = await sql`
    select round(extract(epoch from wake_at - now()) / 60)::int as minutes
    from comment_action_queues`;
  expect(queue).toEqual({ minutes: 60 });

  await sql`update automation_accounts set limited_until = now()`;
  await sql`update comment_action_queues set wake_at = now()`;
  const later = await sql.begin((tx) => claimActions(tx, limits));
  expect(later.actions).toHaveLength(1);
});

test("an account that is connected again during a poll is polled again at once", async () => {
  const { platform, sql, deps } = automations;
  const { workspaceId, accountId } = await createActiveRule(automations);
  const account = await claimAccount(automations);
  platform.beforeList = () => {
    platform.beforeList = () => undefined;
    return { kind: "refused", code: "permission_missing", message: "no permission" };
  };
  await sql.begin((tx) => resumeAccounts(tx, [{ workspaceId, accountId }]));
  await pollAccount(deps, account);
  expect(await readWaitSeconds(automations, workspaceId)).toBeLessThanOrEqual(0);
});

test("an account is polled again at once when a rule was activated during a poll", async () => {
  const { platform, rpc, deps } = automations;
  const { workspaceId, accountId } = await createActiveRule(automations);
  const { rule } = await rpc.createAutomationRule({
    workspaceId,
    accountId,
    name: "Second",
    keywords: ["price"],
    message: "10 €",
  });
  const account = await claimAccount(automations);
  platform.comment([...platform.media.keys()][0] ?? "", "price");
  platform.beforePage = async () => {
    await rpc.updateAutomationRule({ workspaceId, ruleId: rule?.id ?? "", status: "active" });
    return undefined;
  };
  await pollAccount(deps, account);
  expect(await readWaitSeconds(automations, workspaceId)).toBeLessThanOrEqual(0);
});

test("a poll for comments keeps its lease while it lists media and reads the first page of comments", async () => {
  const { platform, sql, deps } = automations;
  const { mediaId } = await createActiveRule(automations);
  platform.comment(mediaId, "link");
  const account = await claimAccount(automations);
  await sql`update automation_accounts set lease_until = now()`;
  let remaining: unknown;
  platform.beforePage = async () => {
    [remaining] = await sql`select lease_until > now() as is_kept from automation_accounts`;
    return undefined;
  };
  await pollAccount(deps, account);
  expect(remaining).toEqual({ isKept: true });
});

describe("one failed read or one unusable comment does not prevent the other reads of a poll:", () => {
  test("the newest media are read when the page of older media fails", async () => {
    const { platform } = automations;
    platform.mediaPageSize = 1;
    const { workspaceId } = await createActiveRule(automations);
    const comment = platform.comment(platform.addMedia(), "link");
    platform.beforeList = () =>
      platform.calls.at(-1) === "media 1" ? platformUnavailable("broken") : undefined;
    await automations.poll();
    expect(await listRunTexts(automations, workspaceId)).toEqual([`${comment.id} prepared`]);
    expect(await readWaitSeconds(automations, workspaceId)).toBe(60);
  });

  test("a comment that occurs twice on a page of comments is answered once", async () => {
    const { platform } = automations;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    const comment = platform.comment(mediaId, "link");
    platform.media.get(mediaId)?.push(comment);
    await automations.poll();
    expect(await listRunTexts(automations, workspaceId)).toEqual([`${comment.id} prepared`]);
  });

  test("when comments on one piece of media cannot be stored, the comments on other media are stored", async () => {
    const { platform, sql } = automations;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    platform.comment(platform.addMedia(), "link", { createdAt: new Date(Number.NaN) });
    const comment = platform.comment(mediaId, "link");
    await automations.poll();
    expect(await listRunTexts(automations, workspaceId)).toEqual([`${comment.id} prepared`]);
    expect(await sql`select last_error from automation_media where failures = 1`).toEqual([
      { lastError: "internal_error" },
    ]);
  });

  test("media whose comments cannot be read wait longer each time until they are read again, and the account is polled as often as before", async () => {
    const { platform, sql } = automations;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    platform.comment(mediaId, "link");
    platform.beforePage = async () => await Promise.resolve(platformUnavailable("broken"));
    await automations.poll();
    await automations.poll();
    expect(takeCallNames().filter((call) => call.startsWith("comments"))).toHaveLength(1);
    expect(await readWaitSeconds(automations, workspaceId)).toBe(60);
    const [media] = await sql`select failures, last_error from automation_media`;
    expect(media).toEqual({ failures: 1, lastError: "platform_unavailable" });
  });

  test("a permission that is missing for one piece of media does not stop the reads of other media", async () => {
    const { platform } = automations;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    const second = platform.addMedia();
    platform.comment(second, "link");
    const comment = platform.comment(mediaId, "link");
    platform.beforePage = async (id) =>
      await Promise.resolve(
        id === second
          ? { kind: "refused", code: "permission_missing", message: "not this one" }
          : undefined,
      );
    await automations.poll();
    expect(await listRunTexts(automations, workspaceId)).toEqual([`${comment.id} prepared`]);
  });

  test("media that the platform reports as missing in the middle of a read are read again later from the newest comment", async () => {
    const { platform, sql } = automations;
    platform.pageSize = 1;
    const { workspaceId, mediaId } = await createActiveRule(automations);
    const made = [1, 5, 10].map((minutes) => {
      const createdAt = new Date(Date.now() + minutes * 60_000);
      return platform.comment(mediaId, "link", { createdAt }).id;
    });
    platform.beforePage = async (_id, after) =>
      await Promise.resolve(after === undefined ? undefined : { kind: "missing" });
    await automations.poll();
    expect(await listRunTexts(automations, workspaceId)).toHaveLength(1);
    platform.beforePage = async () => await Promise.resolve(undefined);
    await sql`update automation_media set read_at = now()`;
    await automations.poll();
    const texts = await listRunTexts(automations, workspaceId);
    expect(texts.toSorted()).toEqual(made.map((id) => `${id} prepared`).toSorted());
  });
});
