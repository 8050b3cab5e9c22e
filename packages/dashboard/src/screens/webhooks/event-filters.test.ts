import { expect, test } from "vitest";
import { groupTypes, toggleFilter } from "./event-filters.ts";

test("types are grouped by what stands before their point, in their order", () => {
  expect(groupTypes(["post.failed", "media.ready", "post.deleted"])).toEqual([
    { filter: "post.*", types: ["post.failed", "post.deleted"] },
    { filter: "media.*", types: ["media.ready"] },
  ]);
});

test("a group that is chosen takes the place of its types, and of no others", () => {
  const chosen = toggleFilter(["post.failed", "media.ready"], "post.*");
  expect(chosen).toEqual(["media.ready", "post.*"]);
});

test("a filter that is chosen twice is removed", () => {
  expect(toggleFilter(toggleFilter([], "post.failed"), "post.failed")).toEqual([]);
});
