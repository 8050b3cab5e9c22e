import fc from "fast-check";
import { expect, test } from "vitest";
import {
  applyDeletionUpdate,
  cancelTarget,
  deleteOutcome,
  requestDeletion,
  type DeletableState,
  type DeletionUpdate,
} from "./deletion.ts";
import { TARGET_STATUSES, type TargetStatus } from "./post-status.ts";

const PUBLISHED: DeletableState = {
  platform: "x",
  status: "published",
  deletion: 0,
  deletionVersion: 0,
  error: null,
};
const error = { code: "platform_unavailable", message: "", retryable: true };
const once = { isConnected: true, again: false };
const anew = { isConnected: true, again: true };

test("requestDeletion starts the deletion of published targets and, when the deletion is repeated, also of targets whose deletion has failed", () => {
  for (const status of TARGET_STATUSES) {
    const target = { ...PUBLISHED, status };
    expect(requestDeletion(target, once) !== target).toBe(status === "published");
    expect(requestDeletion(target, anew) !== target).toBe(
      status === "published" || status === "delete_failed",
    );
  }
});

test("requestDeletion leaves a target published when the API of its platform cannot delete posts", () => {
  const target = { ...PUBLISHED, platform: "tiktok" };
  expect(requestDeletion(target, anew)).toBe(target);
  expect(deleteOutcome(target)).toEqual({ status: "not_supported", error: null });
});

test("requestDeletion marks a deletion as failed while the target's account does not exist, and starts the deletion when the account exists again", () => {
  const failed = requestDeletion(PUBLISHED, { isConnected: false, again: true });
  expect(failed).toMatchObject({
    status: "delete_failed",
    deletion: 0,
    error: { code: "account_disconnected" },
  });
  expect(requestDeletion(failed, { isConnected: false, again: true })).toBe(failed);
  expect(requestDeletion(failed, anew)).toMatchObject({ status: "deleting", deletion: 1 });
});

test("cancelTarget cancels only targets without an outcome", () => {
  for (const status of TARGET_STATUSES) {
    const isOpen = status === "pending" || status === "publishing";
    expect(cancelTarget({ status }).status).toBe(isOpen ? "cancelled" : status);
  }
});

test.each<[TargetStatus, string | null, string]>([
  ["deleting", null, "deleting"],
  ["deleted", null, "deleted"],
  ["delete_failed", "permission_missing", "delete_failed"],
  ["failed", "content_rejected", "not_published"],
  ["failed", "outcome_unknown", "delete_failed"],
  ["cancelled", null, "not_published"],
  ["published", null, "not_supported"],
])(
  "the response to the deletion of a post shows a target with the status %s and the error code %s as %s",
  (status, code, expected) => {
    const shown = code === null ? null : { code, message: "", retryable: false };
    const outcome = deleteOutcome({ status, error: shown });
    expect(outcome.status).toBe(expected);
    expect(outcome.error).toEqual(expected === "delete_failed" ? shown : null);
  },
);

const updates = fc.array(
  fc.record({
    deletion: fc.integer({ min: 1, max: 2 }),
    statuses: fc.array(fc.constantFrom("deleting" as const, "delete_failed" as const), {
      maxLength: 3,
    }),
    isDeleted: fc.boolean(),
  }),
  { maxLength: 2 },
);

/**
 * Creates the updates of up to two deletion requests, with versions as the delivery service counts
 * them.
 */
function updatesOf(
  requests: readonly { deletion: number; statuses: readonly string[]; isDeleted: boolean }[],
) {
  const seen = new Map(requests.map((request) => [request.deletion, request]));
  return [...seen.values()].flatMap(({ deletion, statuses, isDeleted }): DeletionUpdate[] =>
    [...statuses, ...(isDeleted ? ["deleted"] : [])].map((status, index) => ({
      deletion,
      version: index + 1,
      status: status as DeletionUpdate["status"],
      error: status === "delete_failed" ? { ...error, message: `${deletion}/${index}` } : null,
    })),
  );
}

test("the state of a target does not depend on the order or repetition of the reports about its deletion", () => {
  const start: DeletableState = { ...PUBLISHED, status: "deleting", deletion: 2 };
  fc.assert(
    fc.property(updates, fc.infiniteStream(fc.nat()), (requests, random) => {
      const all = updatesOf(requests);
      const mixed = [...all, ...all]
        .map((update) => ({ update, key: random.next().value }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ update }) => update);
      const shown = ({ status, error: why }: DeletableState) => [status, why];
      const straight = all.reduce(applyDeletionUpdate<DeletableState>, start);
      expect(shown(mixed.reduce(applyDeletionUpdate<DeletableState>, start))).toEqual(
        shown(straight),
      );
    }),
  );
});

test("a target that was deleted on its platform stays deleted, whichever deletion request a later report is about", () => {
  const start: DeletableState = { ...PUBLISHED, status: "delete_failed", deletion: 2, error };
  const deleted = applyDeletionUpdate(start, {
    deletion: 1,
    version: 9,
    status: "deleted",
    error: null,
  });
  expect(deleted.status).toBe("deleted");
  const late: DeletionUpdate = { deletion: 2, version: 99, status: "delete_failed", error };
  expect(applyDeletionUpdate(deleted, late)).toBe(deleted);
});
