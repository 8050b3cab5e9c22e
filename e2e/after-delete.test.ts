import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import { create, refusalOf, whenPost, whenTargets, type PostDetail } from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";
import { disconnect, openTenant, type Tenant } from "./support/tenant.ts";
import { awayFromMidnight } from "./support/utc.ts";

/** What can still happen to a post that was deleted. */

let system: System;
let tenant: Tenant;
let bluesky: string;
let telegram: string;

beforeAll(async () => {
  system = await startSystem("postgres");
  tenant = await openTenant(system);
  bluesky = await tenant.connect("bluesky", "regretter");
  telegram = await tenant.connect("telegram");
});
afterAll(() => system[Symbol.asyncDispose]());

interface Deletion {
  readonly status: string;
  readonly targets: readonly {
    readonly status: string;
    readonly error: { readonly code: string } | null;
  }[];
}

const remove = (id: string) => tenant.api.call<Deletion>("DELETE", `/posts/${id}`);
const countVisible = async (text: string) =>
  (await system.simulator.visible()).filter((entry) => entry.text === text).length;
const usedOf = async () =>
  (await tenant.api.call<{ monthly: { used: number } }>("GET", "/quota")).body.monthly.used;

async function publish(content: string): Promise<PostDetail> {
  const { id } = await create(tenant.api, { content, accountIds: [bluesky] });
  return await whenPost(tenant.api, id, "published");
}

/** A post that is out, though nobody here knows, and that was deleted as far as that goes. */
async function deleteUnknown(content: string): Promise<PostDetail> {
  const fault = { platform: "telegram", operation: "publish", mode: "drop_after_commit", times: 1 };
  await system.simulator.addFault(fault);
  const { id } = await create(tenant.api, { content, accountIds: [telegram] });
  await whenPost(tenant.api, id, "failed");
  const answer = await remove(id);
  expect([answer.status, answer.body]).toMatchObject([
    202,
    { status: "cancelled", targets: [{ error: { code: "outcome_unknown" } }] },
  ]);
  return await whenPost(tenant.api, id, "cancelled");
}

test("a deletion that the platform refused is tried again by deleting again", async () => {
  const { id } = await publish("Stays for now");
  const fault = { platform: "bluesky", operation: "delete", mode: "refuse", times: 1 };
  await system.simulator.addFault(fault);
  expect((await remove(id)).body.targets).toMatchObject([{ status: "deleting" }]);
  const failed = await whenTargets(tenant.api, id, "delete_failed");
  expect(failed).toMatchObject({ status: "cancelled", targets: [{ error: expect.anything() }] });
  expect(await countVisible("Stays for now")).toBe(1);
  const again = await remove(id);
  expect([again.status, again.body]).toMatchObject([
    202,
    { status: "cancelled", targets: [{ status: "deleting", error: null }] },
  ]);
  await whenTargets(tenant.api, id, "deleted");
  expect(await countVisible("Stays for now")).toBe(0);
});

test("without its account a target cannot be deleted, and is when the account is back", async () => {
  const { id } = await publish("Orphan");
  await disconnect(system, bluesky);
  const gone = { status: "delete_failed", error: { code: "account_disconnected" } };
  for (const answer of [await remove(id), await remove(id)])
    expect([answer.status, answer.body.targets]).toMatchObject([202, [gone]]);
  expect(await tenant.connect("bluesky", "regretter")).toBe(bluesky);
  expect((await remove(id)).body.targets).toMatchObject([{ status: "deleting" }]);
  await whenTargets(tenant.api, id, "deleted");
  expect(await countVisible("Orphan")).toBe(0);
});

test("a publication that becomes known only now is deleted at once", async () => {
  const { id, content, targets } = await deleteUnknown("Found too late");
  const [entry] = (await system.simulator.visible("telegram")).filter(
    ({ text }) => text === content,
  );
  const link = `https://t.me/c/${entry?.account.replace(/^-100/, "")}/${entry?.id}`;
  await system.operate("target", "resolve", targets[0]?.id ?? "", "--published", link);
  const deleted = await whenTargets(tenant.api, id, "deleted");
  expect(deleted.status).toBe("cancelled");
  expect(await countVisible(content)).toBe(0);
});

test("what turns out never to have been published gives back its quota and its content", async () => {
  await awayFromMidnight();
  const { id, content, targets } = await deleteUnknown("Never was");
  const body = { content, accountIds: [telegram] };
  const used = await usedOf();
  expect(refusalOf(await tenant.api.call("POST", "/posts", { body }))).toBe(
    "409 duplicate_content duplicate_content",
  );
  await system.operate("target", "resolve", targets[0]?.id ?? "", "--absent");
  await eventually(async () => (await usedOf()) === used - 1);
  expect((await remove(id)).body.targets).toMatchObject([{ status: "not_published", error: null }]);
  await whenPost(tenant.api, (await create(tenant.api, body)).id, "published");
});
