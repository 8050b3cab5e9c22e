import { eventually } from "@postrider/shared/testing/poll";
import { beforeEach, expect, test } from "vitest";
import { markRestored } from "#src/publishing/db/deployment.ts";
import type { LiveChecks } from "#src/publishing/operations/live-checks.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { DEPLOYMENT, logger } from "./fixture.ts";
import {
  database,
  open,
  platformOf,
  whenEnded,
  type Opened,
  useLiveChecks,
} from "./live-check-fixture.ts";

await useLiveChecks();

beforeEach(() => database.migrationSql`delete from live_checks`);

/** A pause in a live check, which ends only when the test allows it. */
class Pause {
  readonly #reached = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<void>();
  readonly reached = this.#reached.promise;

  async wait(): Promise<void> {
    this.#reached.resolve();
    await this.#end.promise;
  }

  end(): void {
    this.#end.resolve();
  }
}

/**
 * Starts a live check whose process hangs after it has published, while it opens the permalink of
 * the post.
 */
async function startHanging(platform: "bluesky" | "telegram") {
  const pause = new Pause();
  const opened = await open(platform, {
    openPermalink: async () => {
      await pause.wait();
      return 200;
    },
  });
  const { id } = await opened.client.startLiveCheck({ ...opened.ref, allowPublic: true });
  await pause.reached;
  return { opened, id, pause };
}

/**
 * Ends the leases of all live checks, as if the process that made them had ended, and lets another
 * process look for them.
 */
async function takeOver(other: LiveChecks): Promise<void> {
  await database.sql`update live_checks set lease_until = now() - interval '1 second'`;
  await other.pass();
}

const visible = (platform: "bluesky" | "telegram") => platformOf(platform).visible();

function namesOf(state: {
  readonly steps: readonly { readonly name: string; readonly status: string }[];
}) {
  return state.steps.map(({ name, status }) => `${name}: ${status}`);
}

test.each(["bluesky", "telegram"] as const)(
  "another process deletes the post of a live check on %s whose process ended, and reports the interrupted step",
  async (platform) => {
    const { opened, id, pause } = await startHanging(platform);
    const before = (await opened.client.getLiveCheck({ id })).steps.length;
    await takeOver(opened.startOther());
    const state = await whenEnded(opened, id);

    expect(state.externalId).toBeUndefined();
    expect(await visible(platform)).toEqual([]);
    expect(namesOf(state).slice(before)).toEqual(["interruption: failed", "delete it: ok"]);
    expect(state.steps.at(before)?.found).toContain(
      `the check was interrupted after step ${before} (“find it by its content”)`,
    );
    pause.end();
  },
);

test("a process whose live check another process took over and ended adds no step to it and leaves no post on the platform", async () => {
  const { opened, id, pause } = await startHanging("bluesky");
  await takeOver(opened.startOther());
  const ended = await whenEnded(opened, id);
  pause.end();
  await opened.liveChecks[Symbol.asyncDispose]();

  expect(await opened.client.getLiveCheck({ id })).toEqual(ended);
  expect(await visible("bluesky")).toEqual([]);
});

test("a process keeps its live checks by renewing their leases", async () => {
  const { opened, id, pause } = await startHanging("bluesky");
  await database.sql`update live_checks set lease_until = now() - interval '1 second'`;
  await opened.liveChecks.pass();
  await opened.startOther().pass();
  pause.end();
  const state = await whenEnded(opened, id);

  expect(namesOf(state)).not.toContain("interruption: failed");
  expect(await visible("bluesky")).toEqual([]);
});

test("a live check that another process took over before the publishing call never publishes", async () => {
  const pause = new Pause();
  const { sql } = database;
  const guard = createPublishingGuard({ sql, logger, deploymentId: DEPLOYMENT });
  let asked = 0;
  const opened = await open("x", {
    guard: {
      // The live check asks twice whether its data belongs to this deployment. The test delays the
      // second answer, which comes right before the publishing call.
      isOwn: async () => {
        asked += 1;
        if (asked === 2) await pause.wait();
        return await guard.isOwn();
      },
    },
  });
  const { id } = await opened.client.startLiveCheck({ ...opened.ref, allowPublic: true });
  await pause.reached;
  await takeOver(opened.startOther());
  const state = await whenEnded(opened, id);
  pause.end();
  await opened.liveChecks[Symbol.asyncDispose]();

  expect(namesOf(state)).toEqual(["prepare: ok", "interruption: failed"]);
  expect(state.calledAt).toBeUndefined();
  expect(await platformOf("x").listRequests()).toEqual([]);
});

/**
 * Removes what the database stores about the post of a live check, as if the process had ended
 * during the publishing call.
 */
async function forgetPost(id: string): Promise<void> {
  await database.migrationSql`
    update live_checks
    set external_id = null, permalink = null, steps = '[]'
    where id = ${id}`;
}

test("a live check whose process ended during the publishing call has its post found by content and deleted by another process", async () => {
  const { opened, id, pause } = await startHanging("bluesky");
  await forgetPost(id);
  await takeOver(opened.startOther());
  const state = await whenEnded(opened, id);

  expect(namesOf(state)).toEqual([
    "interruption: failed",
    "find it by its content: ok",
    "delete it: ok",
  ]);
  expect(await visible("bluesky")).toEqual([]);
  pause.end();
});

test("an interrupted live check reports the text of its post if the platform cannot be searched for it", async () => {
  const { opened, id, pause } = await startHanging("telegram");
  await forgetPost(id);
  await takeOver(opened.startOther());
  const state = await whenEnded(opened, id);

  expect(namesOf(state)).toEqual([
    "interruption: failed",
    "find it by its content: skipped",
    "delete it: warning",
  ]);
  expect(state.steps.at(-1)?.found).toContain(`look for “${state.text}”`);
  pause.end();
});

test("an interrupted live check of a disconnected account reports the post that stays on the platform", async () => {
  const { opened, id, pause } = await startHanging("bluesky");
  opened.credential.accountStatus = "disconnected";
  await takeOver(opened.startOther());
  const state = await whenEnded(opened, id);

  expect(state.externalId).toBeDefined();
  expect(state.steps.at(-1)).toMatchObject({ name: "delete it", status: "warning" });
  expect(state.steps.at(-1)?.found).toContain("the account is no longer connected");
  pause.end();
});

test("a stopping process leaves the search for the lost post of a live check to the next process", async () => {
  const opened = await open("bluesky", { patienceMs: 60_000 });
  await platformOf("bluesky").addFault("publish", "drop_after_commit");
  await platformOf("bluesky").addFault("GET /*", "status", { status: 503, times: 100 });
  const { id } = await opened.client.startLiveCheck({ ...opened.ref, allowPublic: true });
  await eventually(async () => (await opened.client.getLiveCheck({ id })).steps.length > 1);
  await opened.liveChecks[Symbol.asyncDispose]();
  expect((await opened.client.getLiveCheck({ id })).endedAt).toBeUndefined();

  await platformOf("bluesky").control("DELETE", "faults");
  await opened.startOther().pass();
  const state = await whenEnded(opened, id);
  expect(namesOf(state).at(-1)).toBe("delete it: ok");
  expect(await visible("bluesky")).toEqual([]);
});

async function insertEnded(endedDaysAgo: number | null): Promise<void> {
  await database.migrationSql`
    insert into live_checks (id, workspace_id, account_id, platform, text, fence, lease_until, started_at, ended_at)
    values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'x', ${String(endedDaysAgo)},
      1, now() + interval '10 minutes', now() - interval '90 days', now() - ${endedDaysAgo}::integer * interval '1 day')`;
}

test("the stored record of a live check is deleted 30 days after the live check ended", async () => {
  for (const days of [31, 29, null]) await insertEnded(days);
  const { liveChecks }: Opened = await open("x");
  await liveChecks.pass();
  const left = await database.sql<{ text: string }[]>`select text from live_checks order by text`;
  expect(left.map(({ text }) => text)).toEqual(["29", "null"]);
});

test("a live check whose call a restore from a backup has forgotten is searched for, and its post is deleted", async () => {
  const { opened, id, pause } = await startHanging("bluesky");
  expect(await visible("bluesky")).toHaveLength(1);
  // The backup was made before the call of the live check began.
  await database.sql`
    update live_checks
    set called_at = null, call_until = null, external_id = null, permalink = null, steps = '[]'`;
  await markRestored(database.sql);
  await takeOver(opened.startOther());
  await whenEnded(opened, id);
  expect(await visible("bluesky")).toEqual([]);
  pause.end();
});
