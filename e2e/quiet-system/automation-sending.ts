import { eventually } from "@postrider/shared/testing/poll";
import { beforeAll, expect, test } from "vitest";
import {
  JOBS,
  type Job,
  setStatus,
  activeRule,
  runsOf,
  whenRuns,
  comment,
  daysAgo,
} from "../support/requests/automations.ts";
import { publishOn } from "../support/requests/engagement.ts";
import { openTenant, type Tenant } from "../support/requests/tenant.ts";
import type { System } from "../support/system/system.ts";

let system: System;
let tenant: Tenant;

/** Tests private replies of automations in a system whose operator allows them. */
export function testAutomationSending(given: () => System): void {
  beforeAll(async () => {
    system = given();
    tenant = await openTenant(system);
  });

  test.each(["instagram", "facebook"])(
    "the author of each matching comment on %s receives one private reply, although two rules match",
    async (platform) => {
      const media = await publishOn(tenant, platform);
      const first = await activeRule(tenant, media.accountId);
      const second = await activeRule(tenant, media.accountId, { message: "From the second" });
      const ids = [
        await comment(system, media, "price 1?"),
        await comment(system, media, "price 2?"),
      ];
      await comment(system, media, "price of long ago", daysAgo(9));

      const runs = [...(await whenRuns(tenant, first, 2)), ...(await whenRuns(tenant, second, 2))];

      for (const id of ids) {
        const outcomes = runs.filter(({ commentId }) => commentId === id);
        expect(new Set(outcomes.map(({ status, reason }) => `${status} ${reason}`))).toEqual(
          new Set(["sent null", "skipped already_replied"]),
        );
      }
      const replies = await system.simulator.privateReplies(platform, media.account);
      expect(replies.map(({ commentId }) => commentId).toSorted()).toEqual(ids.toSorted());
      for (const id of [first, second]) await setStatus(tenant, id, "revoked");
    },
  );

  test("a paused automation rule sends no private replies, and a backfill job for the rule sends none either", async () => {
    const media = await publishOn(tenant, "instagram");
    const ruleId = await activeRule(tenant, media.accountId);
    expect((await setStatus(tenant, ruleId, "paused")).status).toBe(200);
    await whenPollsEnded(media.accountId);
    await comment(system, media, "price while paused?", daysAgo(0));
    const body = { ruleId, mediaId: media.id };
    const job = await tenant.api.call<Job>("POST", JOBS, { body });
    expect(job.body).toMatchObject({ status: "completed", counts: { prepared: 1 } });

    // The second rule finds a comment that was written later, so Postrider has also read the
    // earlier comment.
    const witness = await activeRule(tenant, media.accountId, { keywords: ["witness"] });
    await comment(system, media, "witness");
    await whenRuns(tenant, witness, 1);

    expect(await runsOf(tenant, `ruleId=${ruleId}`)).toEqual([]);
    const replies = await system.simulator.privateReplies("instagram", media.account);
    expect(replies).toHaveLength(1);
  });
}

/**
 * Waits until no poll of the account, whose rules are paused, is in progress or planned. A poll
 * that began before the pause may read the media after it, and stores a skipped run for each
 * comment that it finds there.
 */
async function whenPollsEnded(accountId: string): Promise<void> {
  await eventually(async () => {
    const rows = await system.sql`
      select 1
      from delivery.automation_accounts
      where account_id = ${accountId}
      and poll_at = 'infinity'
      and lease_until <= now()`;
    return rows.length === 1;
  });
}
