import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  create,
  detailsOf,
  HOUR_MS,
  inMs,
  refusalOf,
  whenPost,
  type PostDetail,
} from "./support/requests/posts.ts";
import { disconnect, openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Tests the life of a post until it is published. The tests of the posts service and the gateway
 * cover the validation of requests.
 */

const system = await useSharedSystem();
const tenant = await openTenant(system);
const [x, bluesky, telegram] = [
  await tenant.connect("x"),
  await tenant.connect("bluesky"),
  await tenant.connect("telegram"),
];

const command = (id: string, name: string) =>
  tenant.api.call<PostDetail>("POST", `/posts/${id}/${name}`);
const edit = (id: string, body: object) =>
  tenant.api.call<PostDetail>("PATCH", `/posts/${id}`, { body });

/**
 * Simulates that no scheduler ran since the post was due. The scheduler looks for posts that were
 * due this long ago only every 30 s, which pass while the other tests run.
 */
const lateId = await createLate("Slept through");
async function createLate(content: string): Promise<string> {
  const body = { content, accountIds: [bluesky], scheduledAt: inMs(HOUR_MS) };
  const { id } = await create(tenant.api, body);
  await system.sql`
    update posts.posts set scheduled_at = scheduled_at - interval '26 hours' where id = ${id}`;
  return id;
}

test("a scheduled post is published when it is due and not before", async () => {
  const scheduledAt = inMs(1000);
  const body = { content: "On time", accountIds: [bluesky, x], scheduledAt };
  const made = await create(tenant.api, body);
  expect(made).toMatchObject({ status: "scheduled", scheduledAt, startedAt: null });
  const { startedAt } = await whenPost(tenant.api, made.id, "published");
  expect(Date.parse(startedAt ?? "") - Date.parse(scheduledAt)).toBeGreaterThanOrEqual(0);
  expect(await tenant.countVisible("On time")).toBe(2);
});

test("a draft that is edited and then published before its scheduled time is published once, with its last text for each account", async () => {
  const other = await tenant.connect("bluesky");
  const draft = await create(tenant.api, {
    content: "first text",
    accountIds: [telegram],
    isDraft: true,
  });
  const edited = await edit(draft.id, {
    content: "text for all",
    accountIds: [telegram, bluesky, other],
    options: { bluesky: { content: "text for bluesky" }, [other]: { content: "text for one" } },
    scheduledAt: inMs(HOUR_MS),
  });
  expect([edited.status, edited.body.status]).toEqual([200, "scheduled"]);
  expect((await command(draft.id, "publish")).status).toBe(202);
  await whenPost(tenant.api, draft.id, "published");
  const texts = (await tenant.listVisible()).map(({ text }) => text);
  expect(texts.filter((text) => text.includes("text")).toSorted()).toEqual([
    "text for all",
    "text for bluesky",
    "text for one",
  ]);
  expect(refusalOf(await command(draft.id, "publish"))).toBe("409 invalid_transition wrong_status");
  expect(refusalOf(await edit(draft.id, { content: "too late" }))).toBe(
    "409 post_not_editable wrong_status",
  );
});

test("a second post with the same content is refused on the same account, and is published when the client forces it", async () => {
  const body = { content: "Twice  the\nsame", accountIds: [bluesky] };
  const first = await create(tenant.api, body);
  await whenPost(tenant.api, first.id, "published");
  const again = await tenant.api.call("POST", "/posts", {
    body: { content: " Twice the same ", accountIds: [telegram, bluesky] },
  });
  expect(refusalOf(again)).toBe("409 duplicate_content duplicate_content");
  expect(detailsOf(again)).toMatchObject([{ postId: first.id, accountId: bluesky }]);
  const forced = await create(tenant.api, { ...body, force: true });
  await whenPost(tenant.api, forced.id, "published");
});

test("a retry of a post publishes its failed target again and makes no platform call for its published target", async () => {
  await tenant.addFault(x, { operation: "publish", mode: "refuse" });
  const made = await create(tenant.api, { content: "Again", accountIds: [x, bluesky] });
  const partial = await whenPost(tenant.api, made.id, "partial");
  expect(partial.targets.map(({ status }) => status)).toEqual(["failed", "published"]);
  const answers = await Promise.all([command(made.id, "retry"), command(made.id, "retry")]);
  expect(answers.map(refusalOf).toSorted()).toEqual(["202 ", "409 nothing_to_retry"]);
  const done = await whenPost(tenant.api, made.id, "published");
  expect(done.targets).toMatchObject([
    { status: "published", error: null, attemptCount: 2 },
    { status: "published", attemptCount: 1, permalink: partial.targets[1]?.permalink },
  ]);
  expect(await tenant.countVisible("Again")).toBe(2);
});

test("a target of a disconnected account fails when it is due, and a retry publishes it after the account is reconnected", async () => {
  const leaver = await tenant.connect("bluesky", "leaver");
  const made = await create(tenant.api, {
    content: "Left behind",
    accountIds: [leaver, x],
    scheduledAt: inMs(1500),
  });
  await disconnect(system, leaver);
  const gone = { code: "account_disconnected", retryable: false };
  const partial = await whenPost(tenant.api, made.id, "partial");
  expect(partial.targets).toMatchObject([{ status: "failed", error: gone }, { error: null }]);
  expect((await command(made.id, "retry")).status).toBe(202);
  const again = await whenPost(tenant.api, made.id, "partial");
  expect(again.targets).toMatchObject([{ status: "failed", error: gone }, {}]);
  expect(await tenant.connect("bluesky", "leaver")).toBe(leaver);
  expect((await command(made.id, "retry")).status).toBe(202);
  await whenPost(tenant.api, made.id, "published");
  expect(await tenant.countVisible("Left behind")).toBe(2);
});

/** Publishes a post for which the platform's answer is lost, so that its outcome is unknown. */
async function loseAnswer(content: string): Promise<PostDetail> {
  await tenant.addFault(telegram, { operation: "publish", mode: "drop_after_commit" });
  const { id } = await create(tenant.api, { content, accountIds: [telegram] });
  const failed = await whenPost(tenant.api, id, "failed");
  expect(failed.targets[0]?.error).toMatchObject({ code: "outcome_unknown", retryable: false });
  return failed;
}

test("a target with an unknown outcome can be retried only after an operator reports that the platform has no post for it", async () => {
  const { id, targets } = await loseAnswer("Perhaps");
  const refused = await command(id, "retry");
  expect(refusalOf(refused)).toBe("409 nothing_to_retry outcome_unknown");
  expect(detailsOf(refused)).toMatchObject([{ accountId: telegram, platform: "telegram" }]);
  await system.operate("target", "resolve", targets[0]?.id ?? "", "--absent");
  await eventually(async () => (await command(id, "retry")).status === 202);
  await whenPost(tenant.api, id, "published");
});

test("a target with an unknown outcome becomes published when an operator enters the address of its post", async () => {
  const { id, targets, content } = await loseAnswer("Found");
  const [entry] = (await tenant.listVisible()).filter(({ text }) => text === content);
  const link = `https://t.me/c/${entry?.account.replace(/^-100/, "")}/${entry?.id}`;
  await system.operate("target", "resolve", targets[0]?.id ?? "", "--published", link);
  const post = await whenPost(tenant.api, id, "published");
  expect(post.targets).toMatchObject([
    { status: "published", permalink: link, externalId: entry?.id, error: null },
  ]);
  expect(await tenant.countVisible(content)).toBe(1);
});

const MISSED = [{ status: "failed", error: { code: "missed", retryable: true }, attemptCount: 0 }];

test("a scheduled post that is more than a day late fails as missed, and a retry publishes it", async () => {
  expect((await whenPost(tenant.api, lateId, "failed")).targets).toMatchObject(MISSED);
  expect(await tenant.countVisible("Slept through")).toBe(0);
  expect((await command(lateId, "retry")).status).toBe(202);
  await whenPost(tenant.api, lateId, "published");
  expect(await tenant.countVisible("Slept through")).toBe(1);
});

test("a post whose publishing an operator pauses for more than a day fails as missed, and its content may be posted again", async () => {
  await system.operate("pause", "--account", bluesky);
  const body = { content: "Held too long", accountIds: [bluesky] };
  const { id } = await create(tenant.api, body);
  await eventually(async () => {
    const passed = await system.sql`
      update delivery.publish_tasks set publish_before = publish_before - interval '1 day'
      where post_id = ${id} and status = 'queued'
      returning 1`;
    return passed.length === 1;
  });
  await system.operate("resume", "--account", bluesky);
  expect((await whenPost(tenant.api, id, "failed")).targets).toMatchObject(MISSED);
  await whenPost(tenant.api, (await create(tenant.api, body)).id, "published");
  expect(await tenant.countVisible("Held too long")).toBe(1);
});
