import { expect, test } from "vitest";
import { anyObject, between, list, oneOf, record, text } from "./column-checks.ts";
import { type ColumnChecks, parseRow } from "./imported-row.ts";

const WORKSPACE_ID = "01a1ff6c-075a-743f-b478-fcf2e7c7655a";

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** Whether a row with this value is taken; `column` is `name type`. */
function takes(column: string, value: unknown, checks: ColumnChecks = {}): boolean {
  const [name = "", ...type] = column.split(" ");
  const columns = [
    { name: "workspace_id", type: "uuid" },
    { name, type: type.join(" ") },
  ];
  const row = JSON.stringify({ workspace_id: WORKSPACE_ID, [name]: value });
  const rules = { columns, workspaceId: WORKSPACE_ID, owner: "workspace_id", checks };
  return parseRow(row, rules).kind === "row";
}

test.each<[string, unknown, unknown]>([
  ["count integer", 1_000_000_000, 1_000_000_001],
  ["count integer", 0, -1],
  ["count integer", 1, 1.5],
  ["views bigint", 2 ** 53 - 1, 2 ** 53],
  ["views bigint", 0, -1],
  ["version bigint", 1_000_000_000, 2 ** 40],
  ["task_version bigint", 1_000_000_000, 2 ** 40],
  ["name text", "x".repeat(4096), "x".repeat(4097)],
  ["name text", null, 1],
  ["words text[]", ["a"], ["a", null]],
  ["words text[]", [], "{a,b}"],
  ["words text[]", [], [["a"]]],
  ["words text[]", [], Array.from({ length: 101 }, () => "a")],
  ["at timestamp with time zone", "2026-11-20T09:00:00.123+00:00", "infinity"],
  ["at timestamp with time zone", "2000-01-01T00:00:00+00:00", "1999-12-31T23:59:59+00:00"],
  ["at timestamp with time zone", inDays(3 * 365 - 1), inDays(3 * 365 + 1)],
  ["day date", "2028-02-29", "2027-02-29"],
  ["day date", "0001-01-01", "0000-01-01"],
  ["facts jsonb", null, {}],
])("an imported value of the column `%s` may be %j, and not %j", (column, valid, invalid) => {
  expect([takes(column, valid), takes(column, invalid)]).toEqual([true, false]);
});

test("an imported value must also be one that the check of its column takes", () => {
  const checks = {
    ordinal: between(0, 99),
    kind: oneOf("a", "b"),
    name: text(5_000, (name) => name.startsWith("x")),
    facts: record(2, text(3)),
    words: list(2, text(3)),
  };
  expect(takes("ordinal integer", 99, checks)).toBe(true);
  expect(takes("ordinal integer", 100, checks)).toBe(false);
  expect(takes("kind text", "b", checks)).toBe(true);
  expect(takes("kind text", "c", checks)).toBe(false);
  expect(takes("name text", "x".repeat(5_000), checks)).toBe(true);
  expect(takes("name text", "y", checks)).toBe(false);
  expect(takes("facts jsonb", { a: "1", b: "2" }, checks)).toBe(true);
  expect(takes("facts jsonb", { a: "1234" }, checks)).toBe(false);
  expect(takes("facts jsonb", { a: "1", b: "2", c: "3" }, checks)).toBe(false);
  expect(takes("facts jsonb", { ["a".repeat(101)]: "1" }, checks)).toBe(false);
  expect(takes("facts jsonb", ["1"], checks)).toBe(false);
  expect(takes("words jsonb", ["1", "2"], checks)).toBe(true);
  expect(takes("words jsonb", ["1", "2", "3"], checks)).toBe(false);
  expect(takes("words jsonb", {}, checks)).toBe(false);
});

test.each<[string, boolean]>([
  ["9007199254740991", true],
  ["29.97", true],
  ["0", true],
  ["1e131000", false],
  ["1e300", false],
  ["9007199254740993", false],
  ["1e-300", false],
])("whether a column with JSON takes a number that is written as %s: %j", (number, isTaken) => {
  const columns = [
    { name: "workspace_id", type: "uuid" },
    { name: "facts", type: "jsonb" },
  ];
  const row = `{"workspace_id":"${WORKSPACE_ID}","facts":{"a":[${number}]}}`;
  const checks = { facts: anyObject };
  const rules = { columns, workspaceId: WORKSPACE_ID, owner: "workspace_id", checks };
  expect(parseRow(row, rules).kind === "row").toBe(isTaken);
});

test("a column with JSON takes no deeper value than any service stores", () => {
  const nested = (levels: number) => {
    let value: object = {};
    for (let level = 0; level < levels; level += 1) value = { a: value };
    return value;
  };
  const checks = { facts: () => true };
  expect(takes("facts jsonb", nested(9), checks)).toBe(true);
  expect(takes("facts jsonb", nested(10), checks)).toBe(false);
});

test.each([
  ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00"],
  ["0001-01-01T00:00:00Z", "0000-12-31T23:59:59Z"],
])(
  "an imported time that nothing happens at, such as a plan, may be %s, and not %s, which Protobuf cannot say",
  (valid, invalid) => {
    const checks = { at: () => true };
    const column = "at timestamp with time zone";
    expect(takes(column, valid, checks)).toBe(true);
    expect(takes(column, invalid, checks)).toBe(false);
  },
);

test("a line that is longer than the longest row is refused before it is read", () => {
  const checks = { name: text(2 ** 22) };
  const max = 2.5 * 2 ** 20;
  expect(takes("name text", "x".repeat(max - 200), checks)).toBe(true);
  expect(takes("name text", "x".repeat(max), checks)).toBe(false);
});
