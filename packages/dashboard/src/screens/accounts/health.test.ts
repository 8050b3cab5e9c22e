import type { Account, DailyQuota } from "@postrider/client";
import { expect, test } from "vitest";
import { accessOf, healthOf, limitOf, sortByHealth } from "./health.ts";

const ACCOUNT = {
  platform: "youtube",
  status: "active",
  tokenExpiresAt: "2026-11-29T09:00:00.000Z",
  accessEndedAt: null,
  permissions: { granted: ["publishing"], missing: [] },
} as unknown as Account;

test("an account works, works in part when a permission is missing, and has ended when it must be connected again", () => {
  expect(healthOf(ACCOUNT)).toBe("works");
  expect(healthOf({ ...ACCOUNT, permissions: null })).toBe("works");
  const permissions = { granted: [], missing: ["comments"] } as Account["permissions"];
  expect(healthOf({ ...ACCOUNT, permissions })).toBe("partly");
  expect(healthOf({ ...ACCOUNT, permissions, status: "reconnect_required" })).toBe("ended");
});

test("only a token that nothing renews has an end that a person needs to know, and that is marked a week before", () => {
  const at = "2026-11-29T09:00:00.000Z";
  const weekBefore = Date.parse("2026-11-22T09:00:00.000Z");
  const access = (change: Partial<Account>, now = weekBefore) =>
    accessOf({ ...ACCOUNT, ...change }, now);
  expect(access({})).toEqual({ access: "renews", at: null });
  expect(access({ platform: "facebook" })).toEqual({ access: "ends", at });
  expect(access({ platform: "facebook" }, weekBefore + 1)).toEqual({ access: "endsSoon", at });
  expect(access({ tokenExpiresAt: null })).toEqual({ access: "forever", at: null });
});

test("an account whose access has ended says when, as far as it is known", () => {
  const ended = { ...ACCOUNT, status: "reconnect_required" } as Account;
  const accessEndedAt = "2026-11-24T03:00:00.000Z";
  expect(accessOf({ ...ended, accessEndedAt }, 0)).toEqual({ access: "over", at: accessEndedAt });
  expect(accessOf(ended, 0)).toEqual({ access: "over", at: null });
});

test("of several limits of an account, the one with the least left is shown", () => {
  const limits = [
    { accountId: "a", remaining: 5 },
    { accountId: "a", remaining: 2 },
    { accountId: "b", remaining: 1 },
  ] as unknown as readonly DailyQuota[];
  expect(limitOf("a", limits)?.remaining).toBe(2);
  expect(limitOf("c", limits)).toBeUndefined();
});

test("accounts that need a person stand first, and the others keep their order", () => {
  const account = (id: string, status = "active") => ({ ...ACCOUNT, id, status }) as Account;
  const partly = { ...account("d"), permissions: { granted: [], missing: ["comments"] } };
  const accounts = [
    account("a"),
    account("b", "reconnect_required"),
    account("c"),
    partly as unknown as Account,
  ];
  expect(sortByHealth(accounts).map(({ id }) => id)).toEqual(["b", "d", "a", "c"]);
});
