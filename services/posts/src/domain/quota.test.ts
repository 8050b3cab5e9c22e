import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  changeOfDemands,
  dailyCounters,
  dailyLimitOf,
  dayOf,
  findShortage,
  INSTALLATION,
  monthlyCounter,
  monthOf,
  nameOfCounter,
  type QuotaDemand,
  quotaDemands,
  type QuotaTarget,
  remainingOf,
  resetsAt,
  SHARED_LIMITS,
} from "./quota.ts";

const WORKSPACE = "0198c2f0-0000-7000-8000-000000000001";
const DUE_AT = new Date("2026-11-21T23:59:59.999Z");
const LIMITS = { monthly: 1000, daily: null, highestDaily: null, hasOthers: false };

test.each([
  ["2026-11-21T23:59:59.999Z", "2026-11", "2026-11-21"],
  ["2026-11-30T23:59:59.999Z", "2026-11", "2026-11-30"],
  ["2026-12-01T00:00:00.000Z", "2026-12", "2026-12-01"],
])(
  "quota counts a publication at the instant %s in the month %s and on the day %s",
  (at, month, day) => {
    expect(monthOf(new Date(at))).toBe(month);
    expect(dayOf(new Date(at))).toBe(day);
  },
);

test.each([
  ["2026-11", "2026-12-01T00:00:00.000Z"],
  ["2026-12", "2027-01-01T00:00:00.000Z"],
  ["2026-11-21", "2026-11-22T00:00:00.000Z"],
  ["2026-12-31", "2027-01-01T00:00:00.000Z"],
  ["2028-02-28", "2028-02-29T00:00:00.000Z"],
])("the quota period %s ends at %s", (period, end) => {
  expect(resetsAt(period).toISOString()).toBe(end);
});

test("monthOf and dayOf return the quota periods of an instant, and each period ends after the instant", () => {
  const instant = fc.date({
    min: new Date("2000-01-01T00:00:00Z"),
    max: new Date("2100-01-01T00:00:00Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(instant, (at) => {
      for (const periodOf of [monthOf, dayOf]) {
        const end = resetsAt(periodOf(at));
        expect(end.getTime()).toBeGreaterThan(at.getTime());
        expect(periodOf(new Date(end.getTime() - 1))).toBe(periodOf(at));
        expect(periodOf(end)).not.toBe(periodOf(at));
      }
    }),
  );
});

test("dailyLimitOf returns the daily publishing limit that each platform documents", () => {
  expect(Object.fromEntries(PLATFORM_IDS.map((id) => [id, dailyLimitOf(id)]))).toEqual({
    instagram: { scope: "account", limit: 50 },
    x: { scope: "app", limit: 10_000 },
    facebook: undefined,
    tiktok: { scope: "account", limit: 15 },
    youtube: { scope: "project", limit: 100 },
    telegram: undefined,
    bluesky: { scope: "account", limit: 11_666 },
  });
});

test("quotaDemands contains the monthly quota for all targets of a post and the daily quota per account, app or project, and last those of all workspaces", () => {
  const targets: QuotaTarget[] = [
    { accountId: "x-1", platform: "x" },
    { accountId: "instagram-1", platform: "instagram" },
    { accountId: "x-2", platform: "x" },
    { accountId: "telegram-1", platform: "telegram" },
    { accountId: "instagram-2", platform: "instagram" },
    { accountId: "youtube-1", platform: "youtube" },
  ];
  const day = { code: "daily", workspaceId: WORKSPACE, period: "2026-11-21" };
  const instagram = { ...day, scope: "account", limit: 50, platform: "instagram", requested: 1 };
  const x = { ...day, subject: "x", scope: "app", limit: 10_000, platform: "x", accountId: null };
  const youtube = { ...x, subject: "youtube", scope: "project", limit: 100, platform: "youtube" };
  const ofAll = { code: "daily_shared", workspaceId: INSTALLATION };

  expect(quotaDemands(WORKSPACE, targets, DUE_AT, LIMITS)).toEqual([
    { ...instagram, subject: "instagram-1", accountId: "instagram-1" },
    { ...instagram, subject: "instagram-2", accountId: "instagram-2" },
    { ...x, requested: 2 },
    { ...youtube, requested: 1 },
    {
      code: "monthly",
      workspaceId: WORKSPACE,
      period: "2026-11",
      subject: WORKSPACE,
      scope: "workspace",
      limit: 1000,
      platform: null,
      accountId: null,
      requested: 6,
    },
    { ...x, ...ofAll, requested: 2 },
    { ...youtube, ...ofAll, requested: 1 },
  ]);
});

test("a post without targets demands no quota", () => {
  expect(quotaDemands(WORKSPACE, [], DUE_AT, LIMITS)).toEqual([]);
});

test("the daily limit of a workspace replaces the limits of platforms, but adds no limit to a platform without one", () => {
  const limits = { monthly: 1000, daily: 5, highestDaily: 5, hasOthers: true };
  const limitOf = (platform: QuotaTarget["platform"]) =>
    dailyCounters(WORKSPACE, { accountId: "a", platform }, DUE_AT, limits)[0]?.limit;

  expect(PLATFORM_IDS.map((id) => [id, limitOf(id)])).toEqual([
    ["instagram", 5],
    ["x", 5],
    ["facebook", undefined],
    ["tiktok", 5],
    ["youtube", 5],
    ["telegram", undefined],
    ["bluesky", 5],
  ]);
  expect(monthlyCounter(WORKSPACE, DUE_AT, limits).limit).toBe(1000);
});

test.each([
  ["a workspace alone", {}, [10_000, 10_000], [100, 100]],
  ["a workspace among others", { hasOthers: true }, [5000, 10_000], [50, 100]],
  ["an operator's lower limit", { daily: 7, highestDaily: 7 }, [7, 10_000], [7, 100]],
  ["an operator's higher limit", { daily: 300, highestDaily: 300 }, [300, 10_000], [300, 300]],
  ["others of such a one", { highestDaily: 300, hasOthers: true }, [5000, 10_000], [50, 300]],
])(
  "the limits of the X app and the YouTube project for %s are those of the workspace and of all",
  (_title, limits, x, youtube) => {
    const limitsOf = (platform: string) =>
      dailyCounters(WORKSPACE, { accountId: "a", platform }, DUE_AT, { ...LIMITS, ...limits }).map(
        ({ limit }) => limit,
      );
    expect([limitsOf("x"), limitsOf("youtube")]).toEqual([x, youtube]);
  },
);

const demand: QuotaDemand = {
  ...monthlyCounter(WORKSPACE, DUE_AT, LIMITS),
  requested: 3,
};

test("a quota counter accepts a demand that reaches its limit exactly", () => {
  expect(findShortage(demand, { used: 900, reserved: 97, released: 0 })).toBeUndefined();
});

test("a quota counter refuses a demand above its limit and reports the limit and the amounts of the counter", () => {
  expect(findShortage(demand, { used: 900, reserved: 98, released: 0 })).toEqual({
    code: "monthly",
    limit: 1000,
    used: 900,
    reserved: 98,
    requested: 3,
    resetsAt: new Date("2026-12-01T00:00:00.000Z"),
    platform: null,
    accountId: null,
  });
});

test("the error for an exceeded daily quota limit names the platform and the account", () => {
  const target = { accountId: "t", platform: "tiktok" };
  const [counter] = dailyCounters(WORKSPACE, target, DUE_AT, LIMITS);

  const usage = { used: 15, reserved: 0, released: 0 };
  expect(counter && findShortage({ ...counter, requested: 1 }, usage)).toEqual({
    code: "daily",
    limit: 15,
    used: 15,
    reserved: 0,
    requested: 1,
    resetsAt: new Date("2026-11-22T00:00:00.000Z"),
    platform: "tiktok",
    accountId: "t",
  });
});

test("a quota counter always accepts a negative demand, even above its limit", () => {
  const full = { used: 1001, reserved: 5, released: 0 };

  expect(findShortage({ ...demand, requested: -1 }, full)).toBeUndefined();
  expect(findShortage({ ...demand, requested: 1 }, full)).toBeDefined();
});

test("a quota counter refuses a demand after twenty times its limit, or 10,000, of its targets failed", () => {
  const usage = { used: 1, reserved: 2, released: 19_999 };
  expect(findShortage(demand, usage)).toBeUndefined();
  const refused = { code: "monthly", limit: 20_000, used: 20_000, reserved: 2, requested: 3 };
  expect(findShortage(demand, { ...usage, released: 20_000 })).toMatchObject(refused);
  const low = { ...demand, limit: 10 };
  expect(findShortage(low, { ...usage, released: 9_999 })).toBeUndefined();
  expect(findShortage(low, { ...usage, released: 10_000 })).toMatchObject({ limit: 10_000 });
});

test("the remaining quota of a quota counter is never negative", () => {
  expect(remainingOf(1000, { used: 100, reserved: 20 })).toBe(880);
  expect(remainingOf(1000, { used: 1000, reserved: 0 })).toBe(0);
  expect(remainingOf(1000, { used: 1001, reserved: 5 })).toBe(0);
});

test("a quota counter refuses a positive demand exactly if the sum of the used, reserved and demanded amounts exceeds its limit", () => {
  const amount = fc.nat({ max: 50 });
  fc.assert(
    fc.property(amount, amount, amount, amount, (limit, used, reserved, requested) => {
      const usage = { used, reserved, released: 0 };
      const refused = findShortage({ ...demand, limit, requested }, usage);
      const isOver = used + reserved + requested > limit;
      expect(refused !== undefined).toBe(requested > 0 && isOver);
    }),
  );
});

const x = (count: number): QuotaTarget[] =>
  Array.from({ length: count }, (_, index) => ({ accountId: `x-${index}`, platform: "x" }));
const changesOf = (before: QuotaDemand[], after: QuotaDemand[]) =>
  changeOfDemands(before, after).map(({ code, period, subject, requested }) => [
    code === "daily_shared" ? "all" : "own",
    period,
    subject,
    requested,
  ]);
const due = (at: string, count: number) => quotaDemands(WORKSPACE, x(count), new Date(at), LIMITS);

test("moving a post to another time of the same day changes no quota counter", () => {
  expect(changesOf(due("2026-11-21T00:00:00Z", 2), due("2026-11-21T23:59:59Z", 2))).toEqual([]);
});

test("moving a post to another day of the same month changes only daily quota counters", () => {
  expect(changesOf(due("2026-11-21T00:00:00Z", 2), due("2026-11-22T00:00:00Z", 2))).toEqual([
    ["own", "2026-11-21", "x", -2],
    ["own", "2026-11-22", "x", 2],
    ["all", "2026-11-21", "x", -2],
    ["all", "2026-11-22", "x", 2],
  ]);
});

test("moving a post to another month and adding targets changes monthly and daily quota counters", () => {
  expect(changesOf(due("2026-11-30T00:00:00Z", 2), due("2026-12-01T00:00:00Z", 3))).toEqual([
    ["own", "2026-11-30", "x", -2],
    ["own", "2026-11", WORKSPACE, -2],
    ["own", "2026-12-01", "x", 3],
    ["own", "2026-12", WORKSPACE, 3],
    ["all", "2026-11-30", "x", -2],
    ["all", "2026-12-01", "x", 3],
  ]);
});

test("adding targets to a post demands quota only for the added targets", () => {
  expect(changesOf(due("2026-11-21T00:00:00Z", 2), due("2026-11-21T00:00:00Z", 3))).toEqual([
    ["own", "2026-11-21", "x", 1],
    ["own", "2026-11", WORKSPACE, 1],
    ["all", "2026-11-21", "x", 1],
  ]);
});

const target = fc
  .record({ platform: fc.constantFrom(...PLATFORM_IDS), number: fc.nat({ max: 2 }) })
  .map(({ platform, number }) => ({ platform, accountId: `${platform}-${number}` }));
const post = fc.record({
  targets: fc.array(target, { maxLength: 12 }),
  dueAt: fc.integer({ min: 0, max: 3 }).map((days) => new Date(Date.UTC(2026, 10, 29 + days))),
});
const demandsOf = ({ targets, dueAt }: { targets: QuotaTarget[]; dueAt: Date }) =>
  quotaDemands(WORKSPACE, targets, dueAt, LIMITS);
const keysOf = (demands: readonly QuotaDemand[]) => demands.map(nameOfCounter);

test("the quota demands of a post contain each quota counter once, in the same order for all posts", () => {
  fc.assert(
    fc.property(post, post, (one, other) => {
      const keys = keysOf(demandsOf(one));
      expect(keys).toEqual([...new Set(keys)].toSorted());
      const change = keysOf(changeOfDemands(demandsOf(one), demandsOf(other)));
      expect(change).toEqual([...new Set(change)].toSorted());
    }),
  );
});

test("quota demands count every target in its month, and in its day if its platform has a daily limit, and in that of all workspaces if they share the limit", () => {
  fc.assert(
    fc.property(post, (given) => {
      const total = (code: string) =>
        demandsOf(given)
          .filter((demand) => demand.code === code)
          .reduce((sum, { requested }) => sum + requested, 0);
      const limited = given.targets.filter(({ platform }) => dailyLimitOf(platform));
      expect(total("monthly")).toBe(given.targets.length);
      expect(total("daily")).toBe(limited.length);
      const shared = limited.filter(({ platform }) => platform in SHARED_LIMITS.parts);
      expect(total("daily_shared")).toBe(shared.length);
    }),
  );
});

test("changing a post and then undoing the change leaves all quota counters unchanged", () => {
  fc.assert(
    fc.property(post, post, (one, other) => {
      const there = changeOfDemands(demandsOf(one), demandsOf(other));
      const back = changeOfDemands(demandsOf(other), demandsOf(one));
      expect(back).toEqual(there.map((each) => ({ ...each, requested: -each.requested })));
      expect(changeOfDemands(demandsOf(one), demandsOf(one))).toEqual([]);
    }),
  );
});
