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
import { openTenant, type Tenant } from "./support/tenant.ts";

let system: System;
let tenant: Tenant;
let bluesky: string;
let telegram: string;

beforeAll(async () => {
  system = await startSystem("postgres");
  tenant = await openTenant(system);
  bluesky = await tenant.connect("bluesky");
  telegram = await tenant.connect("telegram");
});
afterAll(() => system[Symbol.asyncDispose]());

interface Page {
  readonly posts: readonly { readonly id: string; readonly status: string }[];
  readonly nextCursor: string | null;
}

const visibleTexts = async () => (await system.simulator.visible()).map(({ text }) => text);
const post = (body: object, headers = {}) =>
  tenant.api.call<PostDetail>("POST", "/posts", { body, headers });
const list = (query: string) => tenant.api.call<Page>("GET", `/posts?${query}`);

test("validate says what a post would be refused for, all at once, and saves nothing", async () => {
  const valid = await tenant.api.call("POST", "/posts/validate", {
    body: { content: "Fine", accountIds: [bluesky, telegram] },
  });
  expect([valid.status, valid.body]).toEqual([
    200,
    {
      valid: true,
      scheduledAt: null,
      targets: [
        { accountId: bluesky, platform: "bluesky" },
        { accountId: telegram, platform: "telegram" },
      ],
    },
  ]);
  const tooLong = await tenant.api.call("POST", "/posts/validate", {
    body: {
      content: "a".repeat(301),
      accountIds: [bluesky, telegram],
      options: { youtube: { title: "x" } },
      scheduledAt: inMs(-HOUR_MS),
    },
  });
  expect(tooLong.status).toBe(422);
  expect(
    detailsOf(tooLong)
      .map(({ code }) => String(code))
      .toSorted(),
  ).toEqual(["content_too_long", "schedule_in_past", "unknown_option_key"]);
  expect(detailsOf(tooLong).find(({ code }) => code === "content_too_long")).toMatchObject({
    accountId: bluesky,
    platform: "bluesky",
    limit: 300,
    actual: 301,
  });
  expect((await list("limit=1")).body).toEqual({ posts: [], nextCursor: null });
});

test("white space alone is no content, and ids that are not ours are unknown", async () => {
  const stranger = crypto.randomUUID();
  const answer = await post({
    content: " \n\t",
    accountIds: [stranger, bluesky],
    mediaIds: [stranger],
  });
  expect(answer.status).toBe(422);
  const codes = new Set(detailsOf(answer).map(({ code }) => code));
  expect([...codes]).toEqual(expect.arrayContaining(["unknown_account", "unknown_media"]));
  const empty = await post({ content: " \n\t", accountIds: [bluesky] });
  expect(refusalOf(empty)).toBe("422 validation_failed content_required");
});

test("a queue slot excludes a time and a draft", async () => {
  const body = { content: "Exclusive", accountIds: [bluesky], queueSlot: true };
  expect(refusalOf(await post({ ...body, scheduledAt: inMs(HOUR_MS), isDraft: true }))).toBe(
    "400 invalid_request exclusive_fields exclusive_fields",
  );
  expect(refusalOf(await post({ ...body, isDraft: true }))).toBe(
    "400 invalid_request exclusive_fields",
  );
});

test("a draft keeps its plan, breaks rules in peace, and counts nowhere", async () => {
  const body = { content: "a".repeat(999), accountIds: [bluesky], isDraft: true };
  const drafts = await Promise.all(
    [0, 1].map(() => create(tenant.api, { ...body, scheduledAt: "2020-01-01T00:00:00Z" })),
  );
  for (const draft of drafts) {
    expect(draft).toMatchObject({
      status: "draft",
      scheduledAt: "2020-01-01T00:00:00.000Z",
      startedAt: null,
    });
  }
  expect(refusalOf(await tenant.api.call("POST", `/posts/${drafts[0]?.id}/publish`))).toBe(
    "422 validation_failed content_too_long",
  );
  const quota = await tenant.api.call<{ monthly: object }>("GET", "/quota");
  expect(quota.body.monthly).toMatchObject({ limit: 1000, used: 0, reserved: 0, remaining: 1000 });
});

test("an option overrides the text: the account's wins over the platform's", async () => {
  const other = await tenant.connect("bluesky");
  const { id } = await create(tenant.api, {
    content: "for all",
    accountIds: [bluesky, other, telegram],
    options: { bluesky: { content: "for bluesky" }, [other]: { content: "for the other" } },
  });
  await whenPost(tenant.api, id, "published");
  expect((await visibleTexts()).filter((text) => text.startsWith("for ")).toSorted()).toEqual([
    "for all",
    "for bluesky",
    "for the other",
  ]);
});

test("the same content is refused while it is out, per account, unless it is forced", async () => {
  const body = { content: "Twice  the\nsame", accountIds: [bluesky] };
  const first = await create(tenant.api, body);
  await whenPost(tenant.api, first.id, "published");
  const again = await post({ content: " Twice the same ", accountIds: [telegram, bluesky] });
  expect(refusalOf(again)).toBe("409 duplicate_content duplicate_content");
  expect(detailsOf(again)[0]).toMatchObject({
    code: "duplicate_content",
    postId: first.id,
    accountId: bluesky,
    platform: "bluesky",
  });
  const forced = await create(tenant.api, { ...body, force: true });
  await whenPost(tenant.api, forced.id, "published");
  await create(tenant.api, { ...body, accountIds: [telegram], scheduledAt: inMs(HOUR_MS) });
  const scheduled = await post({ ...body, accountIds: [telegram], scheduledAt: inMs(2 * HOUR_MS) });
  expect(refusalOf(scheduled)).toBe("409 duplicate_content duplicate_content");
});

test("the same content may go out again a day after it was published, and not before", async () => {
  const body = { content: "Once a day", accountIds: [bluesky] };
  const { id } = await create(tenant.api, body);
  await whenPost(tenant.api, id, "published");
  /** As if so much more time had passed. */
  const pass = async (minutes: number) =>
    await system.sql`
      update posts.duplicate_guards set expires_at = expires_at - ${minutes}::int * interval '1 minute'
      where target_id in (select id from posts.targets where post_id = ${id})`;
  await pass(24 * 60 - 1);
  expect(refusalOf(await post(body))).toBe("409 duplicate_content duplicate_content");
  await pass(1);
  await whenPost(tenant.api, (await create(tenant.api, body)).id, "published");
  expect((await visibleTexts()).filter((text) => text === body.content)).toHaveLength(2);
});

test("of twenty equal posts at the same moment one wins", async () => {
  const body = { content: "The one", accountIds: [bluesky, telegram] };
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(body)));
  const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status);
  expect(winner?.status).toBe(202);
  expect(new Set(others.map(refusalOf))).toEqual(
    new Set(["409 duplicate_content duplicate_content duplicate_content"]),
  );
  await whenPost(tenant.api, winner?.body.id ?? "", "published");
  expect((await visibleTexts()).filter((text) => text === "The one")).toHaveLength(2);
});

test("a key repeats the first answer after the post was edited, and after it is gone", async () => {
  const body = { content: "Replayed", accountIds: [bluesky], scheduledAt: inMs(HOUR_MS) };
  const headers = { "idempotency-key": "replayed" };
  const first = await post(body, headers);
  const path = `/posts/${first.body.id}`;
  await tenant.api.call("PATCH", path, { body: { content: "Changed" } });
  const edited = await post(body, headers);
  expect([edited.status, edited.headers.get("idempotent-replayed"), edited.body]).toEqual([
    202,
    "true",
    first.body,
  ]);
  expect((await tenant.api.call("DELETE", path)).status).toBe(204);
  const gone = await post(body, headers);
  expect([gone.status, gone.headers.get("idempotent-replayed"), gone.body]).toEqual([
    202,
    "true",
    first.body,
  ]);
  expect((await tenant.api.call("GET", path)).status).toBe(404);
});

test("a refused request does not use its key up", async () => {
  const headers = { "idempotency-key": "refused" };
  expect((await post({ content: " ", accountIds: [bluesky] }, headers)).status).toBe(422);
  const answer = await post(
    { content: "Now", accountIds: [bluesky], scheduledAt: inMs(HOUR_MS) },
    headers,
  );
  expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([202, null]);
});

test("a key is free again after a day, and not before", async () => {
  const headers = { "idempotency-key": "a-day" };
  const body = { content: "A day", accountIds: [bluesky], scheduledAt: inMs(HOUR_MS) };
  const first = await post(body, headers);
  const pass = async (minutes: number) =>
    await system.sql`
      update posts.idempotency_keys set created_at = created_at - ${minutes}::int * interval '1 minute'
      where workspace_id = ${tenant.id} and key = 'a-day'`;
  await pass(24 * 60 - 1);
  expect((await post(body, headers)).body).toEqual(first.body);
  const other = { ...body, content: "Another day" };
  expect(refusalOf(await post(other, headers))).toBe("422 idempotency_key_reused");
  await pass(1);
  const fresh = await post(other, headers);
  expect([fresh.status, fresh.headers.get("idempotent-replayed")]).toEqual([202, null]);
  expect(fresh.body.id).not.toBe(first.body.id);
});
