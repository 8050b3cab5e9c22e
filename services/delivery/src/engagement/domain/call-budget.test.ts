import { createXMetricsConnector } from "@postrider/platforms/x/metrics/connector";
import fc from "fast-check";
import { expect, test } from "vitest";
import { takeUnits, toBucket, type Bucket } from "./call-budget.ts";

/**
 * Simulates calls. Each call is made after a pause of `pauseMs`, or later, as soon as the budget
 * allows it. Returns for each used unit the instant of its call. `share` is the part of
 * `unitsPerCall` that a call uses.
 */
function useUnits(
  { intervalMs, burst, unitsPerCall }: Bucket,
  calls: readonly { readonly pauseMs: number; readonly share: number }[],
): readonly number[] {
  let usedUntil = Number.NEGATIVE_INFINITY;
  let at = 0;
  return calls.flatMap(({ pauseMs, share }) => {
    at = Math.max(at + pauseMs, usedUntil - (burst - unitsPerCall) * intervalMs);
    const units = Math.max(1, Math.round(share * unitsPerCall));
    usedUntil = Math.max(usedUntil, at) + units * intervalMs;
    return Array.from({ length: units }, () => at);
  });
}

const CALLS = fc.array(
  fc.record({
    pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { maxLength: 100 },
);

test("within any period as long as a call budget's time window, the calls, or for some platforms the requested posts, never exceed the budget", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 40 }),
      fc.integer({ min: 1, max: 10 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 10_000 }),
      CALLS,
      (calls, maxPosts, isPerPost, windowMs, made) => {
        const budget = { scope: "app", calls, windowMs, isPerPost } as const;
        const used = useUnits(toBucket({ budget, maxPosts }), made);
        for (const from of used) {
          const inWindow = used.filter((at) => at >= from && at < from + windowMs - 1e-6);
          expect(inWindow.length).toBeLessThanOrEqual(calls);
        }
      },
    ),
  );
});

test("a call budget of one call per time window allows one call per window", () => {
  const budget = { scope: "account", calls: 1, windowMs: 1_000 } as const;
  expect(toBucket({ budget, maxPosts: 50 })).toMatchObject({ burst: 1, intervalMs: 1_000 });
});

test("X's budget of metrics allows a full scheduled call while one workspace has used its half at once", () => {
  const x = createXMetricsConnector({ baseUrl: "https://x.example" });
  const { burst, unitsPerCall } = toBucket(x);
  expect(burst).toBeGreaterThanOrEqual(2 * unitsPerCall);
});

const APP = { name: "comments", units: 1_000, windowMs: 1_000_000, burstShare: 0.5 } as const;

/** Workspaces that try to take units at given instants from the budget `APP` of an app. */
class AppSimulation {
  readonly taken = new Map<string, { readonly at: number; readonly units: number }[]>();
  readonly #until = new Map<string, number>();
  #appUntil = 0;

  take(workspace: string, units: number, at: number): number | undefined {
    const ownMs = Math.max(0, (this.#until.get(workspace) ?? 0) - at);
    const others = [...this.#until].filter(([id, until]) => id !== workspace && until > at).length;
    const charged = { appMs: Math.max(0, this.#appUntil - at), ownMs, others, resetMs: null };
    const result = takeUnits(APP, units, charged);
    this.#appUntil = at + result.appMs;
    this.#until.set(workspace, at + result.ownMs);
    const own = this.taken.get(workspace) ?? [];
    if (result.waitMs === undefined) this.taken.set(workspace, [...own, { at, units }]);
    return result.waitMs;
  }

  unitsOf(workspace: string, from = 0): number {
    const own = this.taken.get(workspace) ?? [];
    return own.reduce((sum, { at, units }) => (at >= from ? sum + units : sum), 0);
  }
}

test("workspaces together never use more units of an app than the platform allows within a time window", () => {
  const attempt = fc.record({
    workspace: fc.constantFrom("a", "b", "c", "d"),
    units: fc.integer({ min: 1, max: 50 }),
    pauseMs: fc.integer({ min: 0, max: 20_000 }),
  });
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 200 }), (attempts) => {
      const app = new AppSimulation();
      let at = 0;
      for (const { workspace, units, pauseMs } of attempts)
        app.take(workspace, units, (at += pauseMs));
      const all = [...app.taken.values()].flat();
      for (const { at: from } of all) {
        const inWindow = all.filter((each) => each.at >= from && each.at < from + APP.windowMs);
        expect(inWindow.reduce((sum, { units }) => sum + units, 0)).toBeLessThanOrEqual(1_000);
      }
    }),
  );
});

test.each([1, 2, 5])(
  "with %i workspaces that take all units of an app they get, another workspace gets its equal part",
  (floods) => {
    const app = new AppSimulation();
    const [quietMs, endMs] = [2_000_000, 6_000_000];
    for (let at = 0; at < endMs; at += 500) {
      for (let flood = 0; flood < floods; flood += 1) app.take(`flood-${flood}`, 3, at);
      if (at >= quietMs) app.take("late", 10, at);
    }
    const perMs = 501 / APP.windowMs;
    const part = ((endMs - quietMs) * perMs) / (floods + 1);
    expect(app.unitsOf("late", quietMs)).toBeGreaterThan(part * 0.85);
    const floodsPart = app.unitsOf("flood-0", quietMs + 1_000_000);
    expect(floodsPart).toBeLessThan(((endMs - quietMs - 1_000_000) * perMs) / 2 + 30);
  },
);

test("a workspace that is alone uses the units of an app as fast as the platform allows, and a new one finds units at once", () => {
  const app = new AppSimulation();
  for (let at = 0; at < 2_000_000; at += 500) app.take("alone", 3, at);
  expect(app.unitsOf("alone")).toBeGreaterThan(1_200);
  expect(app.take("new", 50, 2_000_000)).toBeUndefined();
});
