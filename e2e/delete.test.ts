import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  create,
  inMs,
  refusalOf,
  whenPost,
  whenTargets,
  type PostDetail,
} from "./support/requests/posts.ts";
import { disconnect, openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Tests deletions for which a platform is called. The tests of the posts service cover deletions
 * that need no call to a platform.
 */

const system = await useSharedSystem();
const tenant = await openTenant(system);
const x = await tenant.connect("x");
const bluesky = await tenant.connect("bluesky", "regretter");
const telegram = await tenant.connect("telegram");

interface Deletion {
  readonly id: string;
  readonly status: string;
  readonly targets: readonly {
    readonly status: string;
    readonly error: { readonly code: string } | null;
  }[];
}

const remove = (id: string) => tenant.api.call<Deletion>("DELETE", `/posts/${id}`);
const statusesOf = ({ targets }: Deletion) => targets.map(({ status }) => status);

async function publish(content: string, accountIds: readonly string[]): Promise<PostDetail> {
  const { id } = await create(tenant.api, { content, accountIds });
  return await whenPost(tenant.api, id, "published");
}

test("a deleted draft or scheduled post is not found any more and is never published", async () => {
  const accountIds = [bluesky];
  const draft = await create(tenant.api, { content: "Gone", accountIds, isDraft: true });
  const scheduledAt = inMs(2000);
  const later = await create(tenant.api, { content: "Gone too", accountIds, scheduledAt });
  for (const { id } of [later, draft]) {
    expect((await remove(id)).status).toBe(204);
    expect(refusalOf(await remove(id))).toBe("404 not_found");
  }
  const witness = await create(tenant.api, { content: "Witness", accountIds, scheduledAt });
  await whenPost(tenant.api, witness.id, "published");
  const texts = (await tenant.listVisible()).map(({ text }) => text);
  expect(texts.filter((text) => text.startsWith("Gone"))).toEqual([]);
});

test("a deleted post disappears from X, Bluesky and Telegram, and deleting it again changes nothing", async () => {
  const { id, publishedAt } = await publish("Regret", [x, bluesky, telegram]);
  const answer = await remove(id);
  expect(answer.status).toBe(202);
  expect(answer.body).toMatchObject({ id, status: "cancelled" });
  expect(statusesOf(answer.body)).toEqual(["deleting", "deleting", "deleting"]);
  const gone = await whenTargets(tenant.api, id, "deleted");
  expect(gone).toMatchObject({ status: "cancelled", publishedAt });
  expect(await tenant.countVisible("Regret")).toBe(0);
  const again = await remove(id);
  expect([again.status, ...statusesOf(again.body)]).toEqual([202, "deleted", "deleted", "deleted"]);
});

test("deleting a post during publishing cancels the targets without a begun publishing call, and deletes published targets from their platforms", async () => {
  await system.operate("pause", "--account", bluesky);
  const { id } = await create(tenant.api, { content: "Held", accountIds: [x, bluesky] });
  await eventually(async () => (await tenant.api.getPost(id)).targets[0]?.status === "published");
  const answer = await remove(id);
  expect([answer.status, answer.body.status]).toEqual([202, "cancelled"]);
  expect(statusesOf(answer.body)).toEqual(["deleting", "not_published"]);
  await system.operate("resume", "--account", bluesky);
  await publish("After", [bluesky]);
  await eventually(async () => (await tenant.countVisible("Held")) === 0);
  expect((await tenant.api.getPost(id)).targets[1]?.status).toBe("cancelled");
});

test("a post whose publishing call is in progress can be neither edited nor deleted until the platform answers", async () => {
  await tenant.addFault(telegram, { operation: "publish", mode: "delay", delayMs: 1500 });
  const { id } = await create(tenant.api, { content: "Too late", accountIds: [telegram] });
  await eventually(async () => (await tenant.countVisible("Too late")) === 1);
  expect(refusalOf(await remove(id))).toBe("409 post_publishing");
  const edited = await tenant.api.call("PATCH", `/posts/${id}`, { body: { content: "other" } });
  expect(refusalOf(edited)).toBe("409 post_not_editable wrong_status");
  await whenPost(tenant.api, id, "published");
  expect((await remove(id)).status).toBe(202);
  await whenTargets(tenant.api, id, "deleted");
  expect(await tenant.countVisible("Too late")).toBe(0);
});

test("a deletion that the platform refused is tried again when the client deletes the post again", async () => {
  const { id } = await publish("Stays for now", [bluesky]);
  await tenant.addFault(bluesky, { operation: "delete", mode: "refuse" });
  expect(statusesOf((await remove(id)).body)).toEqual(["deleting"]);
  const failed = await whenTargets(tenant.api, id, "delete_failed");
  expect(failed).toMatchObject({ status: "cancelled", targets: [{ error: expect.anything() }] });
  expect(await tenant.countVisible("Stays for now")).toBe(1);
  const again = await remove(id);
  expect([again.status, again.body]).toMatchObject([
    202,
    { status: "cancelled", targets: [{ status: "deleting", error: null }] },
  ]);
  await whenTargets(tenant.api, id, "deleted");
  expect(await tenant.countVisible("Stays for now")).toBe(0);
});

test("a target of a disconnected account is deleted from its platform after the account is connected again", async () => {
  const { id } = await publish("Orphan", [bluesky]);
  await disconnect(system, bluesky);
  const gone = { status: "delete_failed", error: { code: "account_disconnected" } };
  for (const answer of [await remove(id), await remove(id)])
    expect([answer.status, answer.body.targets]).toMatchObject([202, [gone]]);
  expect(await tenant.connect("bluesky", "regretter")).toBe(bluesky);
  expect(statusesOf((await remove(id)).body)).toEqual(["deleting"]);
  await whenTargets(tenant.api, id, "deleted");
  expect(await tenant.countVisible("Orphan")).toBe(0);
});

/**
 * Creates and deletes a post that is still visible on its platform, because its target has an
 * unknown outcome.
 */
async function deleteUnknown(content: string): Promise<PostDetail> {
  await tenant.addFault(telegram, { operation: "publish", mode: "drop_after_commit" });
  const { id } = await create(tenant.api, { content, accountIds: [telegram] });
  await whenPost(tenant.api, id, "failed");
  const answer = await remove(id);
  expect([answer.status, answer.body]).toMatchObject([
    202,
    {
      status: "cancelled",
      targets: [{ status: "delete_failed", error: { code: "outcome_unknown" } }],
    },
  ]);
  return await whenPost(tenant.api, id, "cancelled");
}

test("a deleted post with an unknown outcome is deleted from its platform as soon as an operator reports the post as published", async () => {
  const { id, content, targets } = await deleteUnknown("Found too late");
  const [entry] = (await tenant.listVisible()).filter(({ text }) => text === content);
  const link = `https://t.me/c/${entry?.account.replace(/^-100/, "")}/${entry?.id}`;
  await system.operate("target", "resolve", targets[0]?.id ?? "", "--published", link);
  const deleted = await whenTargets(tenant.api, id, "deleted");
  expect(deleted.status).toBe("cancelled");
  expect(await tenant.countVisible(content)).toBe(0);
});

/**
 * The sum of the workspace's quota counters over all months, because a month may end during the
 * test.
 */
async function countUsed(): Promise<number> {
  const [row] = await system.sql<{ used: number }[]>`
    select coalesce(sum(used), 0)::int as used
    from posts.quota_usage
    where workspace_id = ${tenant.id} and subject = ${tenant.id}`;
  return row?.used ?? -1;
}

test("a deleted post that was never published no longer counts towards the monthly quota, and its content may be posted again", async () => {
  const { id, content, targets } = await deleteUnknown("Never was");
  const body = { content, accountIds: [telegram] };
  const used = await countUsed();
  expect(refusalOf(await tenant.api.call("POST", "/posts", { body }))).toBe(
    "409 duplicate_content duplicate_content",
  );
  await system.operate("target", "resolve", targets[0]?.id ?? "", "--absent");
  await eventually(async () => (await countUsed()) === used - 1);
  expect((await remove(id)).body.targets).toMatchObject([{ status: "not_published", error: null }]);
  await whenPost(tenant.api, (await create(tenant.api, body)).id, "published");
});
