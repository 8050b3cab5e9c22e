import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import { create, inMs, whenPost } from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";

/** A day is three seconds here. */
const MISSED_AFTER_MS = 3000;

let system: System;
let tenant: Tenant;
let bluesky: string;

beforeAll(async () => {
  const env = { MISSED_AFTER_SECONDS: String(MISSED_AFTER_MS / 1000) };
  system = await startSystem("postgres", { env });
  tenant = await openTenant(system);
  bluesky = await tenant.connect("bluesky");
});
afterAll(() => system[Symbol.asyncDispose]());

const countVisible = async (text: string) =>
  (await system.simulator.visible("bluesky")).filter((entry) => entry.text === text).length;

/** Waits until an instant is so long ago that what was due then is missed. */
const untilMissed = (instant: string) =>
  eventually(() => Date.now() > Date.parse(instant) + MISSED_AFTER_MS + 200);

const MISSED = [{ status: "failed", error: { code: "missed", retryable: true }, attemptCount: 0 }];

test("what nobody started for a day fails as missed instead of going out, and a retry sends it", async () => {
  const scheduledAt = inMs(1500);
  const post = { content: "Slept through", accountIds: [bluesky], scheduledAt };
  const { id } = await create(tenant.api, post);
  const release = system.hold("posts");
  for (const pid of system.pids("posts")) process.kill(pid, "SIGKILL");
  await untilMissed(scheduledAt);
  release();
  const failed = await eventually(() => whenPost(tenant.api, id, "failed"), { timeoutMs: 20_000 });
  expect(failed.targets).toMatchObject(MISSED);
  expect(await countVisible("Slept through")).toBe(0);
  expect((await tenant.api.call("POST", `/posts/${id}/retry`)).status).toBe(202);
  await whenPost(tenant.api, id, "published");
  expect(await countVisible("Slept through")).toBe(1);
});

test("what was started and held back for a day fails as missed, and frees its content", async () => {
  await system.operate("pause", "--workspace", tenant.id);
  const body = { content: "Held too long", accountIds: [bluesky] };
  const { id } = await create(tenant.api, body);
  await untilMissed(new Date().toISOString());
  await system.operate("resume", "--workspace", tenant.id);
  expect((await whenPost(tenant.api, id, "failed")).targets).toMatchObject(MISSED);
  const again = await create(tenant.api, body);
  await whenPost(tenant.api, again.id, "published");
  expect(await countVisible("Held too long")).toBe(1);
});
