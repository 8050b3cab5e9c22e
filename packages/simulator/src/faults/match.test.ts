import { expect, test } from "vitest";
import { firstMatch, matchesPath } from "#src/faults/faults.ts";
import type { Fault } from "#src/faults/rule.ts";

function fault(part: Partial<Fault>): Fault {
  return {
    id: "a",
    platform: "x",
    operation: "publish",
    mode: "drop_before",
    times: 1,
    remaining: 1,
    hits: 0,
    ...part,
  };
}

const CALL = {
  platform: "x",
  operations: ["publish", "create"],
  method: "POST",
  path: "/2/tweets",
  account: { externalId: "1", username: "Ada" },
};

test.each([
  ["POST /2/tweets", "POST", "/2/tweets", true],
  ["POST /2/tweets", "GET", "/2/tweets", false],
  ["* /2/tweets", "DELETE", "/2/tweets", true],
  ["GET /2/users/*/tweets", "GET", "/2/users/42/tweets", true],
  ["GET /2/users/*/tweets", "GET", "/2/users/42/likes", false],
  ["POST /bot*/sendMessage", "POST", "/bot1:a/sendMessage", true],
  ["POST *", "POST", "/anything/at/all", true],
  ["POST /a*a", "POST", "/a", false],
  ["POST /*/b/*/d", "POST", "/a/b/c/d", true],
])(
  "comparing the path pattern '%s' of a fault rule with the call '%s %s' returns %s",
  (pattern, method, path, expected) => {
    expect(matchesPath(pattern, method, path)).toBe(expected);
  },
);

test("a fault rule matches a platform call that has several operation names if the rule names any one of them", () => {
  expect(firstMatch([fault({ operation: "create" })], CALL)).toBeDefined();
  expect(firstMatch([fault({ operation: "publish" })], CALL)).toBeDefined();
  expect(firstMatch([fault({ operation: "delete" })], CALL)).toBeUndefined();
});

test("a fault rule that has affected as many requests as its field times says no longer matches a call", () => {
  const rules = [fault({ id: "used", remaining: 0 }), fault({ id: "next" })];
  expect(firstMatch(rules, CALL)?.id).toBe("next");
});

test("a fault rule matches the calls of an account by the account's id, or by its username regardless of case", () => {
  expect(firstMatch([fault({ account: "1" })], CALL)).toBeDefined();
  expect(firstMatch([fault({ account: "ada" })], CALL)).toBeDefined();
  expect(firstMatch([fault({ account: "bob" })], CALL)).toBeUndefined();
  expect(firstMatch([fault({ account: "1" })], { ...CALL, account: undefined })).toBeUndefined();
});
