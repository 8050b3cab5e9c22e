import { afterAll, beforeAll, expect, test } from "vitest";
import { create, HOUR_MS, inMs, refusalOf, whenPost, type PostDetail } from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";
import { addDays, daysOfChange, firstShowing } from "./support/wall-clock.ts";

let system: System;
beforeAll(async () => {
  system = await startSystem("postgres", { replicas: 2 });
});
afterAll(() => system[Symbol.asyncDispose]());

interface Rule {
  readonly id: string;
  readonly status: string;
  readonly nextSlots: readonly string[];
}

/** What a clock so many hours ahead of UTC shows at an instant. */
const wallTime = (instantMs: number, aheadHours = 0) =>
  new Date(instantMs + aheadHours * HOUR_MS).toISOString().slice("YYYY-MM-DDT".length, -8);

/** Two instants of the day, both hours away: no slot passes while a test runs, whenever that is. */
const INSTANTS = [5, 14.5].map(
  (hours) => Math.floor(Date.now() / HOUR_MS) * HOUR_MS + hours * HOUR_MS,
);
const SEOUL_TIMES = INSTANTS.map((instant) => wallTime(instant, 9)).toSorted();
const UTC_TIMES = INSTANTS.map((instant) => wallTime(instant));

const DAILY = {
  name: "Twice a day",
  weekdays: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
  times: SEOUL_TIMES.toReversed(),
  timezone: "Asia/Seoul",
};

const addRule = async ({ api }: Tenant, body: object) =>
  await api.call<Rule>("POST", "/queue-slots", { body });
const rulesOf = async ({ api }: Tenant) =>
  (await api.call<{ rules: Rule[] }>("GET", "/queue-slots")).body.rules;
const slotsOf = async (tenant: Tenant) => (await rulesOf(tenant))[0]?.nextSlots ?? [];

test("a rule is made, changed, paused and revoked; posts already placed keep their time", async () => {
  const tenant = await openTenant(system);
  const bluesky = await tenant.connect("bluesky");
  const made = await addRule(tenant, DAILY);
  expect(made.status).toBe(201);
  expect(made.headers.get("location")).toBe(`/api/v1/queue-slots/${made.body.id}`);
  expect(made.body).toMatchObject({
    name: "Twice a day",
    weekdays: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
    times: SEOUL_TIMES,
    startsOn: null,
    endsOn: null,
    status: "active",
  });
  const [first = 0, second = 0] = INSTANTS;
  expect(made.body.nextSlots.map((slot) => Date.parse(slot))).toEqual([
    first,
    second,
    first + 24 * HOUR_MS,
  ]);
  const post = await create(tenant.api, {
    content: "placed",
    accountIds: [bluesky],
    queueSlot: true,
  });
  expect(post).toMatchObject({
    status: "scheduled",
    scheduledAt: made.body.nextSlots[0],
    queueSlotRuleId: made.body.id,
  });

  const path = `/queue-slots/${made.body.id}`;
  const paused = await tenant.api.call<Rule>("PATCH", path, { body: { status: "paused" } });
  expect([paused.status, paused.body.nextSlots]).toEqual([200, []]);
  const refused = { content: "no room", accountIds: [bluesky], queueSlot: true };
  expect(refusalOf(await tenant.api.call("POST", "/posts", { body: refused }))).toBe(
    "409 no_queue_slot",
  );
  const changed = await tenant.api.call<Rule>("PATCH", path, {
    body: { status: "active", times: ["12:00"] },
  });
  for (const slot of changed.body.nextSlots) expect(slot).toMatch(/T03:00:00\.000Z$/);
  expect((await tenant.api.call("DELETE", path)).status).toBe(204);
  expect(await rulesOf(tenant)).toEqual([]);
  expect(refusalOf(await tenant.api.call("PATCH", path, { body: { name: "x" } }))).toBe(
    "404 not_found",
  );
  expect(refusalOf(await tenant.api.call("DELETE", path))).toBe("404 not_found");
  const { body } = await tenant.api.call<PostDetail>("GET", `/posts/${post.id}`);
  expect(body.scheduledAt).toBe(made.body.nextSlots[0]);
});

test("posts made at the same moment never share a slot, and the rule shows the next free ones", async () => {
  const tenant = await openTenant(system);
  const bluesky = await tenant.connect("bluesky");
  await addRule(tenant, DAILY);
  // The same instants, by the clock of another zone.
  await addRule(tenant, { ...DAILY, times: UTC_TIMES, timezone: "UTC" });
  const posts = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      create(tenant.api, { content: `slot ${index}`, accountIds: [bluesky], queueSlot: true }),
    ),
  );
  const times = posts
    .map(({ scheduledAt }) => Date.parse(scheduledAt ?? ""))
    .toSorted((a, b) => a - b);
  expect(new Set(times).size).toBe(20);
  // Two a day without a gap: the tenth day's are the last.
  expect((times[19] ?? 0) - (times[1] ?? 0)).toBe(9 * 24 * HOUR_MS);
  const next = await slotsOf(tenant);
  expect(Date.parse(next[0] ?? "")).toBeGreaterThan(times[19] ?? 0);
});

test("a deleted, re-timed or early post frees its slot for the next one", async () => {
  const tenant = await openTenant(system);
  const bluesky = await tenant.connect("bluesky");
  await addRule(tenant, DAILY);
  const [slot = ""] = await slotsOf(tenant);
  const take = async (content: string) => {
    const post = await create(tenant.api, { content, accountIds: [bluesky], queueSlot: true });
    expect(post.scheduledAt).toBe(slot);
    return `/posts/${post.id}`;
  };
  await tenant.api.call("DELETE", await take("deleted"));
  const body = { scheduledAt: inMs(1000 * HOUR_MS) };
  const retimed = await tenant.api.call<PostDetail>("PATCH", await take("re-timed"), { body });
  expect(retimed.body.queueSlotRuleId).toBeNull();
  const early = await tenant.api.call<PostDetail>("POST", `${await take("early")}/publish`);
  expect(early.body.queueSlotRuleId).toBeNull();
  await whenPost(tenant.api, early.body.id, "published");
  expect((await slotsOf(tenant))[0]).toBe(slot);
  const kept = await take("kept");
  const edited = await tenant.api.call<PostDetail>("PATCH", kept, {
    body: { content: "kept, edited" },
  });
  expect(edited.body).toMatchObject({ scheduledAt: slot, queueSlotRuleId: expect.any(String) });
});

test("when clocks change, a slot is at the first moment at which they show no less than its time", async () => {
  const tenant = await openTenant(system);
  for (const [timezone, time] of [
    ["America/New_York", "02:30"],
    ["America/New_York", "01:30"],
    ["Europe/Berlin", "02:15"],
    ["Australia/Lord_Howe", "02:10"],
    ["Africa/Cairo", "00:00"],
  ] as const) {
    for (const day of daysOfChange(timezone)) {
      const days = [addDays(day, -1), day, addDays(day, 1)] as const;
      const rule = { ...DAILY, times: [time], timezone, startsOn: days[0] };
      const { body } = await addRule(tenant, rule);
      expect(body.nextSlots).toEqual(days.map((each) => firstShowing(timezone, each, time)));
      await tenant.api.call("DELETE", `/queue-slots/${body.id}`);
    }
  }
});

test("a rule that can give no time, or the hundred and first, is refused", async () => {
  const tenant = await openTenant(system);
  const bodies = [
    { ...DAILY, timezone: "Mars/Olympus" },
    { ...DAILY, weekdays: [] },
    { ...DAILY, weekdays: ["mon", "mon"] },
    { ...DAILY, times: ["24:00"] },
    { ...DAILY, startsOn: "2026-12-02", endsOn: "2026-12-01" },
    { ...DAILY, status: "paused" },
  ];
  const answers = await Promise.all(bodies.map((body) => addRule(tenant, body)));
  expect(answers.map((answer) => refusalOf(answer).slice(0, 19))).toEqual(
    bodies.map(() => "400 invalid_request"),
  );
  const made = await Promise.all(Array.from({ length: 101 }, () => addRule(tenant, DAILY)));
  const refused = made.filter(({ status }) => status !== 201);
  expect(refused.map(refusalOf)).toEqual(["422 validation_failed too_many_rules"]);
});
