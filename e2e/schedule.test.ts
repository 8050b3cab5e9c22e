import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  create,
  detailsOf,
  HOUR_MS,
  inMs,
  refusalOf,
  whenPost,
  type PostDetail,
} from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";
import { disconnect, openTenant, type Tenant } from "./support/tenant.ts";

const DAY_MS = 24 * HOUR_MS;

let system: System;
let tenant: Tenant;
let x: string;
let bluesky: string;
let telegram: string;

beforeAll(async () => {
  system = await startSystem("postgres", { replicas: 2 });
  tenant = await openTenant(system);
  x = await tenant.connect("x");
  bluesky = await tenant.connect("bluesky");
  telegram = await tenant.connect("telegram");
});
afterAll(() => system[Symbol.asyncDispose]());

const post = (body: object) => tenant.api.call<PostDetail>("POST", "/posts", { body });
const command = (id: string, name: string, body?: unknown) =>
  tenant.api.call<PostDetail>("POST", `/posts/${id}/${name}`, body === undefined ? {} : { body });
const countVisible = async (text: string) =>
  (await system.simulator.visible()).filter((entry) => entry.text === text).length;

test("a post goes out when it is due, and not before", async () => {
  const scheduledAt = inMs(1500);
  const made = await create(tenant.api, {
    content: "On time",
    accountIds: [bluesky, x],
    scheduledAt,
  });
  expect(made).toMatchObject({ status: "scheduled", scheduledAt, startedAt: null });
  const { startedAt } = await whenPost(tenant.api, made.id, "published");
  const lateMs = Date.parse(startedAt ?? "") - Date.parse(scheduledAt);
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(await countVisible("On time")).toBe(2);
});

test("a time up to a minute ago means now; further back or more than 366 days ahead is refused", async () => {
  const body = { content: "Grace", accountIds: [bluesky] };
  const refused = await Promise.all([
    post({ ...body, scheduledAt: inMs(-61_000) }),
    post({ ...body, scheduledAt: inMs(366 * DAY_MS + 60_000) }),
  ]);
  expect(refused.map(refusalOf)).toEqual([
    "422 validation_failed schedule_in_past",
    "422 validation_failed schedule_too_far",
  ]);
  const made = await create(tenant.api, { ...body, scheduledAt: inMs(-50_000) });
  expect(made.status).toBe("publishing");
  await whenPost(tenant.api, made.id, "published");
});

test("publish sends a draft or a schedule now, its time becomes the moment, and once is enough", async () => {
  const accountIds = [bluesky];
  const draft = await create(tenant.api, { content: "Draft out", accountIds, isDraft: true });
  const later = await create(tenant.api, {
    content: "Out early",
    accountIds,
    scheduledAt: inMs(HOUR_MS),
  });
  expect(refusalOf(await command(later.id, "publish", { force: false }))).toMatch(
    /^400 invalid_request/,
  );
  expect((await command(draft.id, "publish")).body).toMatchObject({
    status: "publishing",
    scheduledAt: null,
  });
  const early = await command(later.id, "publish", { force: true });
  expect(early.status).toBe(202);
  expect(Math.abs(Date.parse(early.body.scheduledAt ?? "") - Date.now())).toBeLessThan(5000);
  for (const { id, content } of [draft, later]) {
    await whenPost(tenant.api, id, "published");
    expect(refusalOf(await command(id, "publish"))).toBe("409 invalid_transition");
    expect(await countVisible(content)).toBe(1);
  }
});

test("publish looks for the same content elsewhere, unless it is forced", async () => {
  const out = await create(tenant.api, { content: "Said before", accountIds: [bluesky] });
  await whenPost(tenant.api, out.id, "published");
  const draft = await create(tenant.api, {
    content: " Said  before ",
    accountIds: [bluesky, x],
    isDraft: true,
  });
  const refused = await command(draft.id, "publish");
  expect(refusalOf(refused)).toBe("409 duplicate_content duplicate_content");
  expect(detailsOf(refused)).toMatchObject([{ postId: out.id, accountId: bluesky }]);
  expect((await tenant.api.getPost(draft.id)).status).toBe("draft");
  expect((await command(draft.id, "publish", { force: true })).status).toBe(202);
  await whenPost(tenant.api, draft.id, "published");
});

test("a target whose account is gone fails when it is due, a retry of it at once, until it is back", async () => {
  const leaver = await tenant.connect("bluesky", "leaver");
  const made = await create(tenant.api, {
    content: "Left behind",
    accountIds: [leaver, x],
    scheduledAt: inMs(2500),
  });
  await disconnect(system, leaver);
  const gone = { code: "account_disconnected", retryable: false };
  const partial = await whenPost(tenant.api, made.id, "partial");
  expect(partial.targets).toMatchObject([{ status: "failed", error: gone }, { error: null }]);
  const refused = await post({ content: "Not any more", accountIds: [leaver] });
  expect(refusalOf(refused)).toBe("422 validation_failed unknown_account");
  expect((await command(made.id, "retry")).status).toBe(202);
  const again = await whenPost(tenant.api, made.id, "partial");
  expect(again.targets).toMatchObject([{ status: "failed", error: gone }, {}]);
  expect(await tenant.connect("bluesky", "leaver")).toBe(leaver);
  expect((await command(made.id, "retry")).status).toBe(202);
  await whenPost(tenant.api, made.id, "published");
  expect(await countVisible("Left behind")).toBe(2);
});

test("retry sends what failed again, and nothing that is out", async () => {
  await system.simulator.addFault({
    platform: "x",
    operation: "publish",
    mode: "refuse",
    times: 1,
  });
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
  expect(await countVisible("Again")).toBe(2);
  expect(refusalOf(await command(made.id, "retry"))).toBe("409 nothing_to_retry");
});

async function loseAnswer(content: string): Promise<PostDetail> {
  const fault = { platform: "telegram", operation: "publish", mode: "drop_after_commit", times: 1 };
  await system.simulator.addFault(fault);
  const { id } = await create(tenant.api, { content, accountIds: [telegram] });
  const failed = await whenPost(tenant.api, id, "failed");
  expect(failed.targets[0]?.error).toMatchObject({ code: "outcome_unknown", retryable: false });
  return failed;
}

test("an unknown outcome is not retried, until an operator says that it is not there", async () => {
  const { id, targets } = await loseAnswer("Perhaps");
  const refused = await command(id, "retry");
  expect(refusalOf(refused)).toBe("409 nothing_to_retry outcome_unknown");
  expect(detailsOf(refused)[0]).toMatchObject({ accountId: telegram, platform: "telegram" });
  const target = targets[0]?.id ?? "";
  await eventually(() => system.operate("target", "resolve", target, "--absent"));
  await eventually(async () => (await command(id, "retry")).status === 202);
  await whenPost(tenant.api, id, "published");
});

test("an unknown outcome that an operator found is published, with its link", async () => {
  const { id, targets, content } = await loseAnswer("Found");
  const [entry] = (await system.simulator.visible("telegram")).filter(
    ({ text }) => text === content,
  );
  const link = `https://t.me/c/${entry?.account.replace(/^-100/, "")}/${entry?.id}`;
  await system.operate("target", "resolve", targets[0]?.id ?? "", "--published", link);
  const post = await whenPost(tenant.api, id, "published");
  expect(post.targets).toMatchObject([
    { status: "published", permalink: link, externalId: entry?.id, error: null },
  ]);
  expect(await countVisible(content)).toBe(1);
});
