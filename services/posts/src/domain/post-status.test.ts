import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  nextPostStatus,
  shownTargetStatus,
  type PostStatus,
  type TargetStatus,
} from "./post-status.ts";

const POST: readonly PostStatus[] = [
  "draft",
  "scheduled",
  "publishing",
  "published",
  "partial",
  "failed",
  "cancelled",
];
const TARGET: readonly TargetStatus[] = [
  "pending",
  "publishing",
  "published",
  "failed",
  "deleting",
  "deleted",
  "delete_failed",
  "cancelled",
];

const targets = (...from: readonly TargetStatus[]) =>
  fc.array(fc.constantFrom(...from), { minLength: 1, maxLength: 8 });

describe("a post that is being published", () => {
  test.each<[PostStatus, TargetStatus[]]>([
    ["published", ["published", "published"]],
    ["failed", ["failed", "failed"]],
    ["partial", ["published", "failed"]],
    ["publishing", ["published", "failed", "pending"]],
    ["publishing", ["publishing"]],
  ])("is %s when its targets are %s", (expected, statuses) => {
    expect(nextPostStatus("publishing", statuses)).toBe(expected);
  });

  test("does not depend on the order of its targets", () => {
    fc.assert(
      fc.property(targets(...TARGET), fc.infiniteStream(fc.nat()), (statuses, random) => {
        const keys = new Map(statuses.map((_, index) => [index, random.next().value]));
        const shuffled = statuses
          .map((status, index) => ({ status, key: keys.get(index) ?? 0 }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ status }) => status);
        expect(nextPostStatus("publishing", shuffled)).toBe(nextPostStatus("publishing", statuses));
      }),
    );
  });

  test("goes on as long as one target is open, and ends when none is", () => {
    fc.assert(
      fc.property(targets("pending", "publishing", "published", "failed"), (statuses) => {
        const isOpen = statuses.includes("pending") || statuses.includes("publishing");
        expect(nextPostStatus("publishing", statuses) === "publishing").toBe(isOpen);
      }),
    );
  });
});

test("a failed or partial post is opened again when a target turns out to be undecided", () => {
  expect(nextPostStatus("failed", ["publishing"])).toBe("publishing");
  expect(nextPostStatus("partial", ["published", "publishing"])).toBe("publishing");
});

test("drafts, scheduled and cancelled posts and published ones are not moved by their targets", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<PostStatus>("draft", "scheduled", "cancelled", "published"),
      targets(...TARGET),
      (status, statuses) => {
        expect(nextPostStatus(status, statuses)).toBe(status);
      },
    ),
  );
});

test("deleting what was published never changes what became of the post", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...POST),
      targets("published", "failed"),
      targets("deleting", "deleted", "delete_failed", "cancelled"),
      (status, settled, deleted) => {
        expect(nextPostStatus(status, [...settled, ...deleted])).toBe(status);
      },
    ),
  );
});

test("a target that waits in a post that is being published is shown as publishing", () => {
  expect(shownTargetStatus("publishing", "pending")).toBe("publishing");
  expect(shownTargetStatus("scheduled", "pending")).toBe("pending");
  expect(shownTargetStatus("publishing", "failed")).toBe("failed");
});
