import type { DashboardEvent } from "@postrider/rest/dashboard/events";
import { expect, test } from "vitest";
import { isTouched } from "./is-touched.ts";

const post: DashboardEvent = { type: "post", id: "p1" };
const target: DashboardEvent = { type: "target", id: "t1", postId: "p1" };
const posts: DashboardEvent = { type: "post", id: null };

test("a hint about a post or one of its targets is read again in this post only", () => {
  for (const event of [post, target]) {
    expect(isTouched(["post", "p1"], [event])).toBe(true);
    expect(isTouched(["post", "p1", "targets"], [event])).toBe(true);
    expect(isTouched(["post", "p2"], [event])).toBe(false);
    expect(isTouched(["post", "list", { status: "failed" }], [event])).toBe(false);
    expect(isTouched(["overview"], [event])).toBe(false);
    expect(isTouched(["account", "list"], [event])).toBe(false);
  }
});

test("a hint without an id changes the lists and counts of its kind, and a gap in the stream everything", () => {
  expect(isTouched(["post", "list", {}], [posts])).toBe(true);
  expect(isTouched(["post", "p1"], [posts])).toBe(false);
  expect(isTouched(["overview"], [posts])).toBe(true);
  expect(isTouched(["account", "list"], [posts])).toBe(false);
  expect(isTouched(["quota", "today"], [{ type: "quota", id: null }])).toBe(true);
  expect(isTouched(["post", "p1"], [{ type: "resync", id: null }])).toBe(true);
  expect(isTouched(["trial", "past"], [{ type: "resync", id: null }])).toBe(false);
});
