import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextPostStatus, type TargetStatus } from "./post-status.ts";
import {
  destinations,
  findRefusal,
  type PostDestination,
  type PostOperation,
  type PostStatus,
} from "./post-status.ts";

const STATUSES: readonly PostStatus[] = [
  "draft",
  "scheduled",
  "publishing",
  "published",
  "partial",
  "failed",
  "cancelled",
];
const OPERATIONS: readonly PostOperation[] = [
  "update",
  "publish",
  "retry",
  "delete",
  "start",
  "fold",
];
const TARGETS: readonly TargetStatus[] = [
  "pending",
  "publishing",
  "published",
  "failed",
  "deleting",
  "deleted",
  "delete_failed",
  "cancelled",
];

const pairs = fc.tuple(fc.constantFrom(...STATUSES), fc.constantFrom(...OPERATIONS));

/** Every status that a post can have after any operations; `gone` is no status. */
function reachable(from: PostStatus, operations: readonly PostOperation[]): Set<PostDestination> {
  const found = new Set<PostDestination>([from]);
  for (const status of found) {
    if (status === "gone") continue;
    for (const operation of operations)
      for (const next of destinations(status, operation)) found.add(next);
  }
  return found;
}

test.each<[PostOperation, PostStatus[], string]>([
  ["update", ["draft", "scheduled"], "post_not_editable"],
  ["publish", ["draft", "scheduled"], "invalid_transition"],
  ["retry", ["partial", "failed"], "nothing_to_retry"],
  ["delete", [...STATUSES], ""],
  ["start", ["scheduled"], "invalid_transition"],
  ["fold", ["publishing", "partial", "failed"], "invalid_transition"],
])("%s is allowed for %j, and refused as %s for all others", (operation, allowed, code) => {
  const refusals = STATUSES.map((status) => [status, findRefusal(status, operation)]);
  expect(refusals).toEqual(
    STATUSES.map((status) => [status, allowed.includes(status) ? undefined : code]),
  );
});

describe("a post", () => {
  test("is either refused an operation or led somewhere by it, never both and never neither", () => {
    fc.assert(
      fc.property(pairs, ([status, operation]) => {
        const isRefused = findRefusal(status, operation) !== undefined;
        expect(destinations(status, operation).length === 0).toBe(isRefused);
      }),
    );
  });

  test("stays cancelled for ever", () => {
    expect([...reachable("cancelled", OPERATIONS)]).toEqual(["cancelled"]);
  });

  test("that was begun is never a draft or scheduled again, and never disappears", () => {
    for (const status of ["publishing", "published", "partial", "failed"] as const) {
      const found = reachable(status, OPERATIONS);
      expect(found.has("draft") || found.has("scheduled") || found.has("gone")).toBe(false);
    }
  });

  test("that is not begun cannot be published by the news of targets", () => {
    for (const status of ["draft", "scheduled"] as const)
      expect([...reachable(status, ["update", "fold", "retry"])]).not.toContain("publishing");
  });

  test("of which all is published is left only by deleting it", () => {
    expect([...reachable("published", OPERATIONS)]).toEqual(["published", "cancelled"]);
  });

  test("folds only to where the table lets it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...STATUSES),
        fc.array(fc.constantFrom(...TARGETS), { maxLength: 8 }),
        (status, targets) => {
          const next = nextPostStatus(status, targets);
          expect([status, ...destinations(status, "fold")]).toContain(next);
        },
      ),
    );
  });
});
