import type { DashboardEvent } from "@postrider/rest/dashboard/events";
import { expect, test } from "vitest";
import { gatherTime, isTouched } from "./live-events.ts";

const post: DashboardEvent = { type: "post", id: "p1" };
const target: DashboardEvent = { type: "target", id: "t1", postId: "p1" };

test("an event about a post is read again in lists, in the overview and in this post only", () => {
  expect(isTouched(["post", "list", { status: "failed" }], [post])).toBe(true);
  expect(isTouched(["overview"], [post])).toBe(true);
  expect(isTouched(["post", "p1"], [post])).toBe(true);
  expect(isTouched(["post", "p2"], [post])).toBe(false);
  expect(isTouched(["account", "list"], [post])).toBe(false);
});

test("an event about a target changes its post", () => {
  expect(isTouched(["post", "p1", "words"], [target])).toBe(true);
  expect(isTouched(["post", "p2"], [target])).toBe(false);
});

test("an event without an id changes everything of its kind, and a gap in the stream everything", () => {
  expect(isTouched(["quota", "today"], [{ type: "quota", id: null }])).toBe(true);
  expect(isTouched(["webhook", "x"], [{ type: "resync", id: null }])).toBe(true);
});

test("a change after a calm time is read within 250 ms, and changes that do not end at most every 5 s", () => {
  expect(gatherTime(5_000, 10_000)).toBe(250);
  let [readAt, gatherMs, reads] = [Number.NEGATIVE_INFINITY, 250, 0];
  for (let now = 0; now < 60_000; now += 100) {
    if (now < readAt) continue;
    gatherMs = gatherTime(gatherMs, now - readAt);
    readAt = now + gatherMs;
    reads += 1;
  }
  expect(gatherMs).toBe(5_000);
  expect(reads).toBeLessThan(20);
});
