import type { PostSummary } from "@postrider/client";
import { expect, test } from "vitest";
import { holdBack } from "./hold-back.ts";

const post = (id: string, status = "scheduled") => ({ id, status }) as PostSummary;
const hold = (posts: readonly PostSummary[], ...known: string[]) => {
  const { shown, held } = holdBack(posts, new Set(known));
  return [shown.map(({ id }) => id).join(""), held.map(({ id }) => id).join("")];
};

test("a post that appears above known ones waits behind a button", () => {
  expect(hold([post("n"), post("a"), post("m"), post("b")], "a", "b")).toEqual(["ab", "nm"]);
});

test("a post that failed is shown at once", () => {
  expect(hold([post("n", "failed"), post("a")], "a")).toEqual(["na", ""]);
});

test("posts of the next page are shown at once", () => {
  expect(hold([post("a"), post("b"), post("c")], "a")).toEqual(["abc", ""]);
});

test("a first list is shown whole", () => {
  expect(hold([post("a"), post("b")])).toEqual(["ab", ""]);
});
