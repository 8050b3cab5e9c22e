import { expect, test } from "vitest";
import { foldTargets, type TileStatus } from "./fold-targets.ts";

const of = (...statuses: TileStatus[]) => statuses.map((status) => ({ status }));
const fold = (...statuses: TileStatus[]) => {
  const { shown, hidden } = foldTargets(of(...statuses));
  return { shown: shown.map(({ status }) => status), hidden };
};

test("failed tiles stand last", () => {
  expect(fold("failed", "published", "publishing", "published").shown).toEqual([
    "published",
    "published",
    "publishing",
    "failed",
  ]);
});

test("of more than eight tiles seven are shown, and the others are counted", () => {
  const { shown, hidden } = fold(...Array.from({ length: 11 }, () => "published" as const));
  expect([shown.length, hidden]).toEqual([7, 4]);
});

test("no tile that failed or is being published is folded, however many there are", () => {
  const failed = Array.from({ length: 10 }, () => "failed" as const);
  expect(fold(...failed, "published", "published")).toEqual({ shown: failed, hidden: 2 });
});
