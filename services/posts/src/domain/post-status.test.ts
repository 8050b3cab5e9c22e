import fc from "fast-check";
import { expect, test } from "vitest";
import {
  destinations,
  findRefusal,
  nextPostStatus,
  POST_STATUSES,
  shownTargetStatus,
  TARGET_STATUSES,
  type PostDestination,
  type PostOperation,
  type PostStatus,
  type TargetStatus,
} from "./post-status.ts";

const OPERATIONS: readonly PostOperation[] = [
  "update",
  "publish",
  "retry",
  "delete",
  "start",
  "fold",
];
const targets = (...from: readonly TargetStatus[]) =>
  fc.array(fc.constantFrom(...from), { minLength: 1, maxLength: 8 });

test.each<[PostStatus, TargetStatus[]]>([
  ["published", ["published", "published"]],
  ["failed", ["failed", "failed"]],
  ["partial", ["published", "failed"]],
  ["publishing", ["published", "failed", "pending"]],
  ["publishing", ["publishing"]],
])(
  "a post that is being published has the status %s when its targets have the statuses %s",
  (expected, statuses) => {
    expect(nextPostStatus("publishing", statuses)).toBe(expected);
  },
);

test("the status of a publishing post does not depend on the order of its targets", () => {
  fc.assert(
    fc.property(targets(...TARGET_STATUSES), fc.infiniteStream(fc.nat()), (statuses, random) => {
      const keys = new Map(statuses.map((_, index) => [index, random.next().value]));
      const shuffled = statuses
        .map((status, index) => ({ status, key: keys.get(index) ?? 0 }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ status }) => status);
      expect(nextPostStatus("publishing", shuffled)).toBe(nextPostStatus("publishing", statuses));
    }),
  );
});

test("a post is publishing exactly while one of its targets has no outcome", () => {
  fc.assert(
    fc.property(targets("pending", "publishing", "published", "failed"), (statuses) => {
      const isOpen = statuses.includes("pending") || statuses.includes("publishing");
      expect(nextPostStatus("publishing", statuses) === "publishing").toBe(isOpen);
    }),
  );
});

test("a failed or partial post is publishing again when a target that was reported as failed turns out to have no outcome yet", () => {
  expect(nextPostStatus("failed", ["publishing"])).toBe("publishing");
  expect(nextPostStatus("partial", ["published", "publishing"])).toBe("publishing");
});

test("the statuses of targets do not change the status of draft, scheduled, cancelled and published posts", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<PostStatus>("draft", "scheduled", "cancelled", "published"),
      targets(...TARGET_STATUSES),
      (status, statuses) => {
        expect(nextPostStatus(status, statuses)).toBe(status);
      },
    ),
  );
});

test("deleting published targets does not change the status of their post", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...POST_STATUSES),
      targets("published", "failed"),
      targets("deleting", "deleted", "delete_failed", "cancelled"),
      (status, settled, deleted) => {
        expect(nextPostStatus(status, [...settled, ...deleted])).toBe(status);
      },
    ),
  );
});

test("a pending target of a publishing post is shown as publishing", () => {
  expect(shownTargetStatus("publishing", "pending")).toBe("publishing");
  expect(shownTargetStatus("scheduled", "pending")).toBe("pending");
  expect(shownTargetStatus("publishing", "failed")).toBe("failed");
});

const pairs = fc.tuple(fc.constantFrom(...POST_STATUSES), fc.constantFrom(...OPERATIONS));

/**
 * Returns every status that a post can have after any of the operations; `gone` is not a status.
 */
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
  ["delete", [...POST_STATUSES], "invalid_transition"],
  ["start", ["scheduled"], "invalid_transition"],
  ["fold", ["publishing", "partial", "failed"], "invalid_transition"],
])(
  "the post operation %s is allowed in the statuses %j and refused as %s in all others",
  (operation, allowed, code) => {
    const refusals = POST_STATUSES.map((status) => [status, findRefusal(status, operation)]);
    expect(refusals).toEqual(
      POST_STATUSES.map((status) => [status, allowed.includes(status) ? undefined : code]),
    );
  },
);

test("for every operation in every status of a post, the rules say whether it is refused or which status the post gets", () => {
  fc.assert(
    fc.property(pairs, ([status, operation]) => {
      const isRefused = findRefusal(status, operation) !== undefined;
      expect(destinations(status, operation).length === 0).toBe(isRefused);
    }),
  );
});

test("a cancelled post stays cancelled", () => {
  expect([...reachable("cancelled", OPERATIONS)]).toEqual(["cancelled"]);
});

test("a post that has begun to be published never becomes a draft or scheduled again, and is never removed", () => {
  for (const status of ["publishing", "published", "partial", "failed"] as const) {
    const found = reachable(status, OPERATIONS);
    expect(found.has("draft") || found.has("scheduled") || found.has("gone")).toBe(false);
  }
});

test("requests to update or retry a post and reports about its targets cannot start a draft or scheduled post", () => {
  for (const status of ["draft", "scheduled"] as const)
    expect([...reachable(status, ["update", "fold", "retry"])]).not.toContain("publishing");
});

test("the status of a published post can only change to cancelled", () => {
  expect([...reachable("published", OPERATIONS)]).toEqual(["published", "cancelled"]);
});

test("deriving the status of a post from its targets only leads to statuses that the transition table allows", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...POST_STATUSES),
      fc.array(fc.constantFrom(...TARGET_STATUSES), { maxLength: 8 }),
      (status, targets) => {
        const next = nextPostStatus(status, targets);
        expect([status, ...destinations(status, "fold")]).toContain(next);
      },
    ),
  );
});
