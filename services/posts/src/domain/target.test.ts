import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyTargetUpdate,
  isVisiblyDifferent,
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

/** What delivery may tell of a target: any statuses in a row, though at most one generation is ever published. */
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

describe("the state of a target", () => {
  test("is the same for any order and any repetition of the news", () => {
    fc.assert(
      fc.property(
        history.chain(({ target, updates }) =>
          fc.record({
            target: fc.constant(target),
            updates: fc.constant(updates),
            disorder: fc
              .array(fc.nat({ max: Math.max(0, updates.length - 1) }), { maxLength: 30 })
              .chain((again) =>
                fc.shuffledSubarray(
                  [...updates, ...again.flatMap((index) => updates[index] ?? [])],
                  {
                    minLength: updates.length + (updates.length === 0 ? 0 : again.length),
                  },
                ),
              ),
          }),
        ),
        ({ target, updates, disorder }) => {
          expect(apply(target, disorder)).toEqual(apply(target, updates));
        },
      ),
    );
  });

  test("is that of the newest news, whatever else was lost", () => {
    fc.assert(
      fc.property(history, fc.infiniteStream(fc.boolean()), ({ target, updates }, keep) => {
        const newest = updates.findLast(({ status }) => status === "published") ?? updates.at(-1);
        const rest = updates.filter((update) => update === newest || keep.next().value);
        expect(apply(target, rest).status).toBe(apply(target, updates).status);
        expect(apply(target, rest).externalId).toBe(apply(target, updates).externalId);
      }),
    );
  });

  test("stays published once it is", () => {
    fc.assert(
      fc.property(history, ({ target, updates }) => {
        const published = apply(target, [updateOf({ status: "published", version: 100 })]);
        expect(apply(published, updates).status).toBe("published");
      }),
    );
  });
});

test("a success of an older generation counts, anything else of it does not", () => {
  const retried = { ...PENDING, generation: 2 };

  expect(apply(retried, [updateOf({ status: "published" })]).status).toBe("published");
  expect(apply(retried, [updateOf({ status: "failed", error: failed })]).status).toBe("pending");
});

test("a failure that turns out to be undecided opens the target again", () => {
  const target = apply(PENDING, [updateOf({ status: "failed", error: failed })]);

  expect(apply(target, [updateOf({ status: "publishing", version: 2 })])).toMatchObject({
    status: "publishing",
    error: null,
  });
});

test("news that was known already changes nothing, not even the object", () => {
  const target = apply(PENDING, [updateOf({ version: 3 })]);

  expect(apply(target, [updateOf({ version: 3 }), updateOf({ version: 2 })])).toBe(target);
});

test("that a waiting target was taken up is no difference to a reader", () => {
  const taken = apply(PENDING, [updateOf({ attemptCount: 0 })]);

  expect(taken.status).toBe("publishing");
  expect(isVisiblyDifferent(PENDING, taken)).toBe(false);
  expect(isVisiblyDifferent(PENDING, apply(PENDING, [updateOf({ status: "published" })]))).toBe(
    true,
  );
});
