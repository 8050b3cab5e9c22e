import fc from "fast-check";
import { expect, test } from "vitest";
import type { TargetStatus } from "./post-status.ts";
import { isRetryable, retryTarget } from "./target.ts";
import { applyTargetUpdate, type TargetState } from "./target.ts";

const DUE = {
  dueAt: new Date(Date.UTC(2026, 10, 21)),
  publishBefore: new Date(Date.UTC(2026, 10, 22)),
  dueDay: "2026-11-21",
};

const STATUSES: readonly TargetStatus[] = [
  "pending",
  "publishing",
  "published",
  "failed",
  "deleting",
  "deleted",
  "delete_failed",
  "cancelled",
];

const error = fc.option(
  fc.record({
    code: fc.constantFrom("outcome_unknown", "content_rejected", "missed", "account_disconnected"),
    message: fc.constant(""),
    retryable: fc.boolean(),
  }),
);

test("only what has failed for certain may be sent again, whatever its error says of itself", () => {
  fc.assert(
    fc.property(fc.constantFrom(...STATUSES), error, (status, why) => {
      const expected = status === "failed" && why?.code !== "outcome_unknown";
      expect(isRetryable({ status, error: why })).toBe(expected);
    }),
  );
});

test("after a retry, old failures count no more, and an old success still does", () => {
  const failed: TargetState & typeof DUE = {
    ...DUE,
    status: "failed",
    generation: 1,
    taskGeneration: 1,
    taskVersion: 3,
    externalId: null,
    permalink: null,
    publishedAt: null,
    error: { code: "content_rejected", message: "", retryable: false },
    attemptCount: 2,
    nextAttemptAt: null,
  };
  const retried = retryTarget(failed, DUE);
  expect(retried).toMatchObject({ status: "pending", generation: 2, error: null, attemptCount: 2 });
  const late = {
    generation: 1,
    version: 9,
    externalId: "1",
    permalink: null,
    publishedAt: new Date(0),
    error: failed.error,
    attemptCount: 2,
    nextAttemptAt: null,
  };
  expect(applyTargetUpdate(retried, { ...late, status: "failed" })).toBe(retried);
  const published = applyTargetUpdate(retried, { ...late, status: "published", error: null });
  expect(published.status).toBe("published");
});
