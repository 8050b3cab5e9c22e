import fc from "fast-check";
import { expect, test } from "vitest";
import { TARGET_STATUSES } from "./post-status.ts";
import {
  applyTargetUpdate,
  isRetryable,
  isVisiblyDifferent,
  retryTarget,
  type TargetState,
  type TargetUpdate,
} from "./target.ts";

const PENDING: TargetState = {
  status: "pending",
  generation: 1,
  taskGeneration: 0,
  taskVersion: 0,
  externalId: null,
  permalink: null,
  publishedAt: null,
  error: null,
  attemptCount: 0,
  nextAttemptAt: null,
};

function updateOf(change: Partial<TargetUpdate>): TargetUpdate {
  const update = {
    generation: 1,
    version: 1,
    status: "publishing" as const,
    externalId: null,
    permalink: null,
    publishedAt: null,
    error: null,
    attemptCount: 1,
    nextAttemptAt: null,
    ...change,
  };
  if (update.status !== "published") return update;
  return {
    ...update,
    externalId: `${update.generation}/${update.version}`,
    publishedAt: new Date(0),
  };
}

const failed = { code: "outcome_unknown", message: "", retryable: false };

/**
 * The updates that the delivery service may report about a target: any sequence of statuses, but at
 * most one published generation.
 */
const history = fc
  .record({
    generations: fc.array(
      fc.array(fc.constantFrom("publishing" as const, "failed" as const), { maxLength: 6 }),
      { minLength: 1, maxLength: 3 },
    ),
    published: fc.option(
      fc.record({ generation: fc.nat({ max: 2 }), times: fc.integer({ min: 1, max: 3 }) }),
    ),
  })
  .map(({ generations, published }) => {
    let attempts = 0;
    const updates = generations.flatMap((statuses, index) => {
      const times =
        published !== null && published.generation % generations.length === index
          ? published.times
          : 0;
      const all = [...statuses, ...Array.from({ length: times }, () => "published" as const)];
      return all.map((status, step) => {
        attempts += 1;
        const error = status === "failed" ? failed : null;
        return updateOf({
          generation: index + 1,
          version: step + 1,
          status,
          error,
          attemptCount: attempts,
        });
      });
    });
    return { target: { ...PENDING, generation: generations.length }, updates };
  });

const apply = (target: TargetState, updates: readonly TargetUpdate[]) =>
  updates.reduce(applyTargetUpdate<TargetState>, target);

test("the state of a target does not depend on the order or repetition of the reports of the delivery service", () => {
  fc.assert(
    fc.property(
      history.chain(({ target, updates }) =>
        fc.record({
          target: fc.constant(target),
          updates: fc.constant(updates),
          disorder: fc
            .array(fc.nat({ max: Math.max(0, updates.length - 1) }), { maxLength: 30 })
            .chain((again) =>
              fc.shuffledSubarray([...updates, ...again.flatMap((index) => updates[index] ?? [])], {
                minLength: updates.length + (updates.length === 0 ? 0 : again.length),
              }),
            ),
        }),
      ),
      ({ target, updates, disorder }) => {
        expect(apply(target, disorder)).toEqual(apply(target, updates));
      },
    ),
  );
});

test("the newest report of the delivery service decides the state of a target, even if other reports are lost", () => {
  fc.assert(
    fc.property(history, fc.infiniteStream(fc.boolean()), ({ target, updates }, keep) => {
      const newest = updates.findLast(({ status }) => status === "published") ?? updates.at(-1);
      const rest = updates.filter((update) => update === newest || keep.next().value);
      expect(apply(target, rest).status).toBe(apply(target, updates).status);
      expect(apply(target, rest).externalId).toBe(apply(target, updates).externalId);
    }),
  );
});

test("a published target stays published, whatever the delivery service reports later", () => {
  fc.assert(
    fc.property(history, ({ target, updates }) => {
      const published = apply(target, [updateOf({ status: "published", version: 100 })]);
      expect(apply(published, updates).status).toBe("published");
    }),
  );
});

test("a report about an older publish request of a target is applied only if it says that the target was published", () => {
  const retried = { ...PENDING, generation: 2 };

  expect(apply(retried, [updateOf({ status: "published" })]).status).toBe("published");
  expect(apply(retried, [updateOf({ status: "failed", error: failed })]).status).toBe("pending");
});

test("a target that was reported as failed is publishing again when it turns out to have no outcome yet", () => {
  const target = apply(PENDING, [updateOf({ status: "failed", error: failed })]);

  expect(apply(target, [updateOf({ status: "publishing", version: 2 })])).toMatchObject({
    status: "publishing",
    error: null,
  });
});

test("applyTargetUpdate returns the target unchanged for a report that is not newer than the last applied report", () => {
  const target = apply(PENDING, [updateOf({ version: 3 })]);

  expect(apply(target, [updateOf({ version: 3 }), updateOf({ version: 2 })])).toBe(target);
});

test("isVisiblyDifferent returns false when the only change is that the publishing of a pending target has begun", () => {
  const taken = apply(PENDING, [updateOf({ attemptCount: 0 })]);

  expect(taken.status).toBe("publishing");
  expect(isVisiblyDifferent(PENDING, taken)).toBe(false);
  expect(isVisiblyDifferent(PENDING, apply(PENDING, [updateOf({ status: "published" })]))).toBe(
    true,
  );
});

const DUE = {
  dueAt: new Date(Date.UTC(2026, 10, 21)),
  publishBefore: new Date(Date.UTC(2026, 10, 22)),
  dueDay: "2026-11-21",
};

const anyError = fc.option(
  fc.record({
    code: fc.constantFrom("outcome_unknown", "content_rejected", "missed", "account_disconnected"),
    message: fc.constant(""),
    retryable: fc.boolean(),
  }),
);

test("isRetryable returns true exactly for failed targets whose outcome is known and that were sent less than 100 times; no other field of the error matters", () => {
  const generations = fc.integer({ min: 98, max: 102 });
  fc.assert(
    fc.property(
      fc.constantFrom(...TARGET_STATUSES),
      anyError,
      generations,
      (status, why, generation) => {
        const expected = status === "failed" && why?.code !== "outcome_unknown" && generation < 100;
        expect(isRetryable({ status, error: why, generation })).toBe(expected);
      },
    ),
  );
});

test("after a retry of a target, a late failure of the older publish request is ignored, and a late success is applied", () => {
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
