import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findInspectionProgram } from "./inspection-program.ts";

const SOURCE = join(import.meta.dirname, "child/main.ts");
const dist = mkdtempSync(join(tmpdir(), "postrider-inspection-program-"));
afterAll(() => rmSync(dist, { recursive: true }));

function writeInputs(inputs: Readonly<Record<string, number>>): void {
  writeFileSync(join(dist, "inspection-inputs.json"), JSON.stringify(inputs));
}

test("inspections start their bundle while its modules are unchanged, and their source after a change or without a bundle", () => {
  expect(findInspectionProgram(dist)).toBe(SOURCE);
  const module = join(dist, "module.ts");
  writeFileSync(module, "");
  writeInputs({ [module]: statSync(module).mtimeMs });
  expect(findInspectionProgram(dist)).toBe(join(dist, "inspection.js"));
  utimesSync(module, 1, 1);
  expect(findInspectionProgram(dist)).toBe(SOURCE);
});

test("inspections start their bundle in an image, whose list of modules is empty", () => {
  writeInputs({});
  expect(findInspectionProgram(dist)).toBe(join(dist, "inspection.js"));
});
