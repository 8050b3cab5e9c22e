import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type { StatusJson } from "@postrider/rest/dashboard/status";
import { newId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { createRpcClients, openDatabase, request, World, type TestTarget } from "./fixture.ts";

const LATER = new Date(Date.now() + 3_600_000);

/** Targets of one workspace that are due, on x, bluesky and telegram; no worker runs. */
async function open() {
  const database = await openDatabase();
  const { sql } = database;
  const { status, pauses } = createRpcClients(sql);
  const world = new World();
  const workspaceId = newId();
  const add = (platform: PlatformId) => world.addTarget({ workspaceId, platform });
  const targets = { x: add("x"), bluesky: add("bluesky"), telegram: add("telegram") };
  await request(sql, ...Object.values(targets));
  const accounts = Object.values(targets).map(({ accountId, platform }) => ({
    id: accountId,
    platform: platform as string,
  }));
  return {
    sql,
    status,
    pauses,
    workspaceId,
    targets,
    readStatus: async (given = { workspaceId, accounts }) => {
      const { json } = await status.getPublishingStatus(given);
      return JSON.parse(json) as Pick<StatusJson, "pauses" | "heldPlatforms" | "heldAccounts">;
    },
    readWaits: async (...wanted: readonly TestTarget[]) => {
      const targetIds = wanted.map(({ targetId }) => targetId);
      const { waits } = await status.batchGetWaits({ workspaceId, targetIds });
      return waits;
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

test("the publishing status shows pauses with their reason, held platforms, and held accounts, each with the publications that wait for it", async () => {
  await using fixture = await open();
  const { sql, pauses, targets, workspaceId } = fixture;
  await pauses.pausePublishing({ kind: "platform", key: "x", reason: "credits are used up" });
  await pauses.pausePublishing({ kind: "account", key: newId() });
  await pauses.pausePublishing({ kind: "workspace", key: newId() });
  await sql`
    insert into platform_breakers (platform, held_since, probe_at)
    values ('bluesky', now(), ${LATER}), ('youtube', now(), ${LATER})`;
  await sql`
    insert into platform_limits (platform, until, code, message)
    values ('telegram', ${LATER}, 'platform_quota', 'daily limit')`;
  await sql`
    insert into account_breakers (account_id, workspace_id, not_before)
    values (${targets.telegram.accountId}, ${workspaceId}, ${LATER})`;

  const one = { count: 1, isMore: false };
  expect(await fixture.readStatus()).toEqual({
    pauses: [
      {
        kind: "platform",
        key: "x",
        reason: "credits are used up",
        since: expect.any(String) as string,
        waiting: one,
      },
    ],
    heldPlatforms: [
      {
        platform: "bluesky",
        reason: "no_answer",
        since: expect.any(String) as string,
        nextTryAt: LATER.toISOString(),
        waiting: one,
      },
      {
        platform: "telegram",
        reason: "app_limit",
        since: null,
        nextTryAt: LATER.toISOString(),
        waiting: one,
      },
    ],
    heldAccounts: [
      {
        accountId: targets.telegram.accountId,
        platform: "telegram",
        until: LATER.toISOString(),
        waiting: one,
      },
    ],
  });
});

test("the publishing status shows a pause of the workspace, and counts no publications of other workspaces", async () => {
  await using fixture = await open();
  const { pauses, targets, workspaceId } = fixture;
  await pauses.pausePublishing({ kind: "workspace", key: workspaceId });
  expect((await fixture.readStatus()).pauses).toMatchObject([
    { kind: "workspace", key: null, reason: null, waiting: { count: 3 } },
  ]);
  const foreign = {
    workspaceId: newId(),
    accounts: [{ id: targets.x.accountId, platform: "x" }],
  };
  await pauses.pausePublishing({ kind: "platform", key: "x" });
  expect(await fixture.readStatus(foreign)).toMatchObject({
    pauses: [{ kind: "platform", waiting: { count: 0 } }],
  });
});

test("a repeated pause keeps its begin and takes the new reason", async () => {
  await using fixture = await open();
  const { pauses } = fixture;
  const scope = { kind: "platform", key: "x" };
  const first = await pauses.pausePublishing({ ...scope, reason: "first" });
  expect((await pauses.pausePublishing(scope)).pause).toEqual(first.pause);
  const second = await pauses.pausePublishing({ ...scope, reason: "second" });
  expect(second.pause).toEqual({ ...first.pause, reason: "second" });
  const tooLong = pauses.pausePublishing({ ...scope, reason: "x".repeat(501) });
  await expect(tooLong).rejects.toMatchObject({ reason: "invalid_request" });
});

test("an account that failed several times in a row is held back, which is not said to be a limit of its platform", async () => {
  await using fixture = await open();
  const { sql, targets, workspaceId } = fixture;
  const { x, bluesky } = targets;
  await sql`
    insert into account_breakers (account_id, workspace_id, not_before, failures_in_row)
    values (${x.accountId}, ${workspaceId}, ${LATER}, 5)`;
  await sql`
    insert into platform_limits (platform, until, code, message)
    values ('bluesky', ${LATER}, 'platform_quota', 'no points are left')`;
  expect(await fixture.readWaits(x)).toMatchObject([{ kind: "held_account" }]);
  expect(await fixture.readWaits(bluesky)).toMatchObject([
    { kind: "platform_limit", reason: "no points are left" },
  ]);
});

test("a target that failed at a limit has the end of the limit while it lasts, and one that failed for another cause has none", async () => {
  await using fixture = await open();
  const { sql, targets, workspaceId } = fixture;
  const { x, bluesky, telegram } = targets;
  const fail = async ({ targetId }: TestTarget, code: string) =>
    await sql`update publish_tasks set status = 'failed', error_code = ${code} where target_id = ${targetId}`;
  await fail(x, "rate_limited");
  await fail(bluesky, "platform_quota");
  await fail(telegram, "content_rejected");
  expect(await fixture.readWaits(x, bluesky, telegram)).toEqual([]);
  await sql`
    insert into account_breakers (account_id, workspace_id, not_before)
    values (${x.accountId}, ${workspaceId}, ${LATER}), (${telegram.accountId}, ${workspaceId}, ${LATER})`;
  await sql`
    insert into platform_limits (platform, until, code, message)
    values ('bluesky', ${LATER}, 'platform_quota', 'no points are left')`;
  const waits = await fixture.readWaits(x, bluesky, telegram);
  const until = timestampFromDate(LATER);
  expect(waits.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toMatchObject([
    { targetId: x.targetId, kind: "held_account", until },
    { targetId: bluesky.targetId, kind: "platform_limit", until, reason: "no points are left" },
  ]);
});

test("a target waits for a pause, for its held platform, for its next attempt, for its outcome, or for its turn", async () => {
  await using fixture = await open();
  const { sql, pauses, targets } = fixture;
  const { x, bluesky, telegram } = targets;
  await pauses.pausePublishing({ kind: "account", key: x.accountId, reason: "new owner" });
  await sql`insert into platform_breakers (platform, held_since, probe_at) values ('bluesky', now(), ${LATER})`;
  const waits = await fixture.readWaits(x, bluesky, telegram);
  expect(waits.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toMatchObject([
    { targetId: bluesky.targetId, kind: "held_platform" },
    { targetId: x.targetId, kind: "pause", pause: "account", reason: "new owner" },
  ]);

  await sql`update publish_tasks set wake_at = ${LATER} where target_id = ${telegram.targetId}`;
  expect(await fixture.readWaits(telegram)).toMatchObject([{ kind: "next_attempt" }]);
  await sql`update publish_tasks set status = 'unknown' where target_id = ${telegram.targetId}`;
  expect(await fixture.readWaits(telegram)).toMatchObject([{ kind: "outcome" }]);
  const foreign = { workspaceId: newId(), targetIds: [x.targetId] };
  expect((await fixture.status.batchGetWaits(foreign)).waits).toEqual([]);
});
