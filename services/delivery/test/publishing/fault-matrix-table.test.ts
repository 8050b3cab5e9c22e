import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { expect, test } from "vitest";
import { KINDS, nameRow, ROWS } from "./fault-matrix/cases.ts";
import { FAULTS, isApplicable } from "./fault-matrix/faults.ts";
import { readTable } from "./fault-matrix/table.ts";

const GUARANTEES = fileURLToPath(new URL("../../../../docs/guarantees.md", import.meta.url));
const table = readTable(readFileSync(GUARANTEES, "utf8"));

test("the fault matrix in docs/guarantees.md has every platform, step and fault, and 20 targets in each cell", () => {
  expect(table.heads).toEqual(FAULTS.map(({ name }) => name));
  expect([...table.rows.keys()]).toEqual(ROWS.map(nameRow));
  for (const row of ROWS) {
    const counts = table.rows
      .get(nameRow(row))
      ?.map((cell) =>
        [...cell.matchAll(/\d+/g)].reduce((sum, [digits]) => sum + Number(digits), 0),
      );
    expect([nameRow(row), counts]).toEqual([
      nameRow(row),
      FAULTS.map((fault) => (isApplicable(fault, row.step) ? 20 : 0)),
    ]);
  }
});

test("the fault matrix in docs/guarantees.md shows no target published twice, and every outcome known or reported as unknown", () => {
  expect(table.summary).toMatch(/, 0 twice, 0 lost\./);
});

test("the fault matrix tests a publishing call of every platform", () => {
  expect(new Set(KINDS.map(({ platform }) => platform))).toEqual(new Set(PLATFORM_IDS));
  for (const { steps } of KINDS)
    expect(steps.some(({ isVisible }) => isVisible === true)).toBe(true);
});
