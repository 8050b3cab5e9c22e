import fc from "fast-check";
import { expect, test } from "vitest";
import { planClaim, SLOT_LIMITS, type SubscriptionDemand } from "./claim-plan.ts";

let leases = 0;
function lease(demand: Partial<SubscriptionDemand> = {}): SubscriptionDemand {
  leases += 1;
  return {
    subscriptionId: `s${leases}`,
    workspaceId: `w${leases}`,
    version: 1,
    pace: "fast",
    isFailing: false,
    running: 0,
    free: 4,
    onlyManual: false,
    isAsking: true,
    ...demand,
  };
}

test("a process claims no deliveries of webhook subscriptions that have no free attempt slot or no due delivery", () => {
  const asked = lease();
  const plan = planClaim([lease({ free: 0 }), lease({ isAsking: false }), asked], SLOT_LIMITS);
  expect(plan.leases.map(({ subscriptionId }) => subscriptionId)).toEqual([asked.subscriptionId]);
});

test("slow webhook receivers that use half of the attempt slots get no more slots, and fast receivers still do", () => {
  const hanging = Array.from({ length: 64 }, () => lease({ pace: "slow", running: 4, free: 4 }));
  const fast = lease();
  const plan = planClaim([...hanging, fast], SLOT_LIMITS);
  expect(plan).toMatchObject({ total: 256, slow: 0 });
  expect(plan.leases.map(({ subscriptionId }) => subscriptionId)).toEqual([fast.subscriptionId]);
});

test("new webhook receivers that turn out to hang leave a quarter of the attempt slots to fast receivers", () => {
  const hanging = Array.from({ length: 96 }, () => lease({ pace: "slow", running: 4 }));
  const plan = planClaim([...hanging, lease({ pace: "new" }), lease()], SLOT_LIMITS);
  expect(plan).toMatchObject({ total: 128, slow: 0, new: 0 });
  expect(plan.leases).toHaveLength(1);
});

test("the slow webhook receivers of a workspace leave half of the workspace's attempt slots to its fast receivers", () => {
  const workspaceId = "w";
  const hanging = Array.from({ length: 8 }, () => lease({ workspaceId, pace: "slow", running: 8 }));
  const fast = lease({ workspaceId });
  const plan = planClaim([...hanging, fast], SLOT_LIMITS);
  expect(plan.leases).toMatchObject([
    { subscriptionId: fast.subscriptionId, workspaceRunning: 64, workspaceFree: 64 },
  ]);
});

test("all failing webhook receivers of a workspace together get 8 attempts at a time, and those of another workspace get 8 more", () => {
  const failing = { pace: "slow", isFailing: true, free: 1 } as const;
  const busy = Array.from({ length: 50 }, (_, index) =>
    lease({ ...failing, workspaceId: "w", running: index < 6 ? 1 : 0 }),
  );
  const plan = planClaim([...busy, lease(failing)], SLOT_LIMITS);
  expect(plan.leases.map(({ workspacePaceFree }) => workspacePaceFree)).toEqual([
    ...busy.map(() => 2),
    8,
  ]);
});

test("a plan for claiming webhook deliveries never exceeds a limit of a subscription, of its workspace or of the speed of its receiver", () => {
  const demands = fc.array(
    fc.record({
      workspaceId: fc.constantFrom("a", "b", "c"),
      pace: fc.constantFrom("new" as const, "fast" as const, "slow" as const),
      running: fc.nat({ max: 40 }),
      free: fc.nat({ max: 32 }),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(demands, (drawn) => {
      const all = drawn.map((demand) => lease(demand));
      const plan = planClaim(all, SLOT_LIMITS);
      expect(plan.total).toBeLessThanOrEqual(SLOT_LIMITS.total);
      for (const planned of plan.leases) {
        const demand = all.find(({ subscriptionId }) => subscriptionId === planned.subscriptionId);
        expect(planned.free).toBeLessThanOrEqual(demand?.free ?? 0);
        expect(planned.workspaceRunning + planned.free).toBeLessThanOrEqual(
          SLOT_LIMITS.perWorkspace,
        );
        expect(planned.free).toBeGreaterThan(0);
      }
    }),
  );
});
