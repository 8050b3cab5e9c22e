import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  create,
  HOUR_MS,
  inMs,
  refusalOf,
  whenPost,
  whenTargets,
  type PostDetail,
} from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";

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

interface Deletion {
  readonly id: string;
  readonly status: string;
  readonly targets: readonly {
    readonly status: string;
    readonly error: { readonly code: string } | null;
  }[];
}

const patch = (id: string, body: object, headers = {}) =>
  tenant.api.call<PostDetail>("PATCH", `/posts/${id}`, { body, headers });
const remove = (id: string, headers = {}) =>
  tenant.api.call<Deletion>("DELETE", `/posts/${id}`, { headers });
const countVisible = async (text: string) =>
  (await system.simulator.visible()).filter((entry) => entry.text === text).length;
const schedule = (content: string, accountIds = [bluesky]) =>
  create(tenant.api, { content, accountIds, scheduledAt: inMs(HOUR_MS) });
const refuseNext = (platform: string) =>
  system.simulator.addFault({ platform, operation: "publish", mode: "refuse", times: 1 });

test("an edit replaces whole fields, and what goes out is the last one", async () => {
  const { id } = await create(tenant.api, {
    content: "first",
    accountIds: [bluesky, x],
    options: { bluesky: { content: "override" } },
    scheduledAt: inMs(HOUR_MS),
  });
  const edited = await patch(id, {
    content: "second",
    accountIds: [telegram, bluesky],
    options: {},
  });
  expect(edited.status).toBe(200);
  expect(edited.body.targets.map(({ accountId }) => accountId)).toEqual([telegram, bluesky]);
  await patch(id, { scheduledAt: inMs(800) });
  await whenPost(tenant.api, id, "published");
  expect(await Promise.all(["first", "override", "second"].map(countVisible))).toEqual([0, 0, 2]);
  expect(refusalOf(await patch(id, { content: "third" }))).toBe("409 post_not_editable");
});

test("a time schedules a draft, nothing unschedules it, and a bad edit changes nothing", async () => {
  const draft = await create(tenant.api, {
    content: "a".repeat(301),
    accountIds: [bluesky],
    isDraft: true,
  });
  const scheduledAt = inMs(HOUR_MS);
  expect(refusalOf(await patch(draft.id, { scheduledAt }))).toBe(
    "422 validation_failed content_too_long",
  );
  const edited = await patch(draft.id, { scheduledAt, content: "Planned" });
  expect(edited.body).toMatchObject({ status: "scheduled", scheduledAt });
  for (const body of [
    { scheduledAt: null },
    {},
    { isDraft: true },
    { queueSlot: true },
    { force: true },
  ]) {
    expect(refusalOf(await patch(draft.id, body))).toMatch(/^400 invalid_request/);
  }
  expect(refusalOf(await patch(draft.id, { scheduledAt: inMs(-61_000) }))).toBe(
    "422 validation_failed schedule_in_past",
  );
  const { body } = await tenant.api.call("GET", `/posts/${draft.id}`);
  expect(body).toEqual(edited.body);
});

test("If-Match lets through only who has seen the latest version", async () => {
  const { id } = await schedule("Versions");
  const etag = (await tenant.api.call("GET", `/posts/${id}`)).headers.get("etag") ?? "";
  const edited = await patch(id, { content: "Versions 2" }, { "if-match": etag });
  expect(edited.status).toBe(200);
  const stale = { "if-match": etag };
  expect(refusalOf(await patch(id, { content: "lost" }, stale))).toBe("412 precondition_failed");
  expect(refusalOf(await remove(id, stale))).toBe("412 precondition_failed");
  const races = await Promise.all(
    ["a", "b", "c"].map((content) =>
      patch(id, { content }, { "if-match": edited.headers.get("etag") ?? "" }),
    ),
  );
  expect(races.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412]);
  expect((await remove(id, { "if-match": "*" })).status).toBe(204);
});

test("If-Match is judged before the status, and every answer says what it would have to be", async () => {
  const draft = await create(tenant.api, {
    content: "Tagged",
    accountIds: [bluesky],
    isDraft: true,
  });
  const tagOf = async () =>
    (await tenant.api.call("GET", `/posts/${draft.id}`)).headers.get("etag") ?? "";
  const first = await tagOf();
  const listed = await patch(draft.id, { content: "2" }, { "if-match": `"999", ${first}` });
  expect(listed.status).toBe(200);
  const weak = { "if-match": `W/${listed.headers.get("etag")}` };
  expect(refusalOf(await patch(draft.id, { content: "3" }, weak))).toBe("412 precondition_failed");
  expect((await patch(draft.id, { content: "3" }, { "if-match": "*" })).status).toBe(200);
  const published = await tenant.api.call("POST", `/posts/${draft.id}/publish`);
  expect(published.headers.get("etag")).toMatch(/^"\d+"$/);
  await whenPost(tenant.api, draft.id, "published");
  const stale = { "if-match": first };
  expect(refusalOf(await patch(draft.id, { content: "4" }, stale))).toBe("412 precondition_failed");
  expect(refusalOf(await remove(draft.id, stale))).toBe("412 precondition_failed");
  const current = { "if-match": await tagOf() };
  expect(refusalOf(await patch(draft.id, { content: "4" }, current))).toBe("409 post_not_editable");
  const gone = await remove(draft.id, current);
  expect([gone.status, gone.headers.get("etag")]).toEqual([202, expect.stringMatching(/^"\d+"$/)]);
  const unknown = await patch(crypto.randomUUID(), { content: "5" }, stale);
  expect(refusalOf(unknown)).toBe("404 not_found");
});

test("a schedule stays what its platforms would take, whatever is edited at the same moment", async () => {
  const long = { content: "a".repeat(301) };
  const tooLong = "422 validation_failed content_too_long";
  const { id } = await schedule("Short", [telegram]);
  await schedule("Taken", [bluesky]);
  expect(refusalOf(await patch(id, { accountIds: [bluesky], ...long }))).toBe(tooLong);
  expect(refusalOf(await patch(id, { options: { x: { title: "none" } } }))).toBe(
    "422 validation_failed unknown_option_key",
  );
  expect(refusalOf(await patch(id, { accountIds: [bluesky], content: "Taken" }))).toBe(
    "409 duplicate_content duplicate_content",
  );
  // Each of the two alone is fine, together they are not: whichever is second is judged by what the first one left.
  for (let round = 0; round < 5; round += 1) {
    await patch(id, { accountIds: [telegram], content: `Round ${round}` });
    const answers = await Promise.all([patch(id, { accountIds: [bluesky] }), patch(id, long)]);
    expect(answers.map(refusalOf).toSorted()).toEqual(["200 ", tooLong]);
  }
  expect((await remove(id)).status).toBe(204);
});

test("a draft or a schedule is gone at once, and never goes out", async () => {
  const draft = await create(tenant.api, {
    content: "Gone draft",
    accountIds: [bluesky],
    isDraft: true,
  });
  const later = await create(tenant.api, {
    content: "Gone",
    accountIds: [bluesky],
    scheduledAt: inMs(1000),
  });
  const witness = await create(tenant.api, {
    content: "Witness",
    accountIds: [bluesky],
    scheduledAt: inMs(1100),
  });
  for (const { id } of [draft, later]) {
    expect((await remove(id)).status).toBe(204);
    expect(refusalOf(await remove(id))).toBe("404 not_found");
  }
  await whenPost(tenant.api, witness.id, "published");
  expect(await countVisible("Gone")).toBe(0);
});

test("a published post disappears from all three platforms, and deleting it again is no fault", async () => {
  const { id } = await create(tenant.api, {
    content: "Regret",
    accountIds: [x, bluesky, telegram],
  });
  const { publishedAt } = await whenPost(tenant.api, id, "published");
  const answer = await remove(id);
  expect(answer.status).toBe(202);
  expect(answer.body).toMatchObject({ id, status: "cancelled" });
  expect(answer.body.targets.map(({ status }) => status)).toEqual([
    "deleting",
    "deleting",
    "deleting",
  ]);
  const gone = await whenTargets(tenant.api, id, "deleted");
  expect(gone).toMatchObject({ status: "cancelled", publishedAt });
  expect(await countVisible("Regret")).toBe(0);
  const again = await remove(id);
  expect([again.status, again.body.targets.map(({ status }) => status)]).toEqual([
    202,
    ["deleted", "deleted", "deleted"],
  ]);
});

test("of a partial or failed post only what is out is deleted", async () => {
  await refuseNext("x");
  const partial = await create(tenant.api, { content: "Half", accountIds: [x, bluesky] });
  await whenPost(tenant.api, partial.id, "partial");
  const half = await remove(partial.id);
  expect(half.body.targets.map(({ status }) => status)).toEqual(["not_published", "deleting"]);
  await refuseNext("x");
  const failed = await create(tenant.api, { content: "None", accountIds: [x] });
  await whenPost(tenant.api, failed.id, "failed");
  const none = await remove(failed.id);
  expect([none.status, none.body.status]).toEqual([202, "cancelled"]);
  expect(none.body.targets.map(({ status }) => status)).toEqual(["not_published"]);
  await eventually(async () => (await countVisible("Half")) === 0);
  expect(refusalOf(await tenant.api.call("POST", `/posts/${failed.id}/retry`))).toBe(
    "409 nothing_to_retry",
  );
});

test("what nobody knows to be out cannot be deleted, and says so", async () => {
  await system.simulator.addFault({
    platform: "telegram",
    operation: "publish",
    mode: "drop_after_commit",
    times: 1,
  });
  const { id } = await create(tenant.api, { content: "Perhaps", accountIds: [telegram] });
  await whenPost(tenant.api, id, "failed");
  expect((await remove(id)).body.targets).toMatchObject([
    { status: "delete_failed", error: { code: "outcome_unknown" } },
  ]);
});

test("a post that is going out is taken back as long as no call has begun", async () => {
  await system.operate("pause", "--platform", "bluesky");
  const { id } = await create(tenant.api, { content: "Held", accountIds: [x, bluesky] });
  await eventually(async () => (await countVisible("Held")) === 1);
  await eventually(async () => (await tenant.api.getPost(id)).targets[0]?.status === "published");
  const answer = await remove(id);
  expect([answer.status, answer.body.status]).toEqual([202, "cancelled"]);
  expect(answer.body.targets.map(({ status }) => status)).toEqual(["deleting", "not_published"]);
  await system.operate("resume", "--platform", "bluesky");
  const witness = await create(tenant.api, { content: "After", accountIds: [bluesky] });
  await whenPost(tenant.api, witness.id, "published");
  await eventually(async () => (await countVisible("Held")) === 0);
  const { targets } = await tenant.api.getPost(id);
  expect(targets[1]?.status).toBe("cancelled");
});

test("a post whose call is under way stays as it is, and is deleted when the answer is there", async () => {
  await system.simulator.addFault({
    platform: "telegram",
    operation: "publish",
    mode: "delay",
    delayMs: 1500,
    times: 1,
  });
  const { id } = await create(tenant.api, { content: "Too late", accountIds: [telegram] });
  await eventually(async () => (await countVisible("Too late")) === 1);
  expect(refusalOf(await remove(id))).toBe("409 post_publishing");
  expect(refusalOf(await patch(id, { content: "other" }))).toBe("409 post_not_editable");
  await whenPost(tenant.api, id, "published");
  expect((await remove(id)).status).toBe(202);
  await whenTargets(tenant.api, id, "deleted");
  expect(await countVisible("Too late")).toBe(0);
});
