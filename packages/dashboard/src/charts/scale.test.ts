import { expect, test } from "vitest";
import { spreadLabels, ticksTo } from "./scale.ts";

test("lines lie at round numbers and reach above the highest value", () => {
  expect(ticksTo(1204)).toEqual([0, 500, 1000, 1500]);
  expect(ticksTo(90)).toEqual([0, 25, 50, 75, 100]);
  expect(ticksTo(18_402)).toEqual([0, 5000, 10_000, 15_000, 20_000]);
});

test("counts have no fractions, and nothing counted still has an axis", () => {
  expect(ticksTo(3)).toEqual([0, 1, 2, 3]);
  expect(ticksTo(0)).toEqual([0, 1]);
});

test("labels of lines that end close together keep their distance and their order", () => {
  expect(spreadLabels([40, 10, 12], 16)).toEqual([42, 10, 26]);
});
