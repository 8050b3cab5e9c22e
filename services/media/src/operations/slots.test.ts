import { expect, test } from "vitest";
import { Slots } from "./slots.ts";

const LIMITS = { total: 3, perOwner: 2, waitMs: 10_000, queue: 10 };

/** Work that lasts until it is told to end. */
function begin(slots: Slots, owner: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const state = { begun: false };
  const done = slots.run(owner, async () => {
    state.begun = true;
    await promise;
  });
  return { state, done, end: resolve };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("no more work at once than there are slots, and nobody waits in vain", async () => {
  const slots = new Slots({ ...LIMITS, perOwner: 100 });
  let [now, most] = [0, 0];
  const work = async () => {
    most = Math.max(most, (now += 1));
    await settle();
    now -= 1;
  };
  await Promise.all(Array.from({ length: 10 }, () => slots.run("a", work)));
  expect(most).toBe(3);
  await expect(slots.run("a", () => Promise.reject(new RangeError("failed")))).rejects.toThrow(
    RangeError,
  );
  await Promise.all(Array.from({ length: 10 }, () => slots.run("a", work)));
});

test("one owner leaves room for others, also in the queue", async () => {
  const slots = new Slots(LIMITS);
  const mine = [begin(slots, "a"), begin(slots, "a"), begin(slots, "a"), begin(slots, "a")];
  const other = begin(slots, "b");
  await settle();
  expect(mine.map(({ state }) => state.begun)).toEqual([true, true, false, false]);
  expect(other.state.begun).toBe(true);
  const third = begin(slots, "c");
  mine[0]?.end();
  await settle();
  expect([mine[2]?.state.begun, third.state.begun]).toEqual([true, false]);
  mine[1]?.end();
  await settle();
  expect([mine[3]?.state.begun, third.state.begun]).toEqual([true, false]);
  other.end();
  await settle();
  expect(third.state.begun).toBe(true);
  for (const { end } of [...mine, other, third]) end();
  await Promise.all([...mine, other, third].map(({ done }) => done));
});

test("who waits too long or finds the queue full is sent away and takes no slot", async () => {
  const slots = new Slots({ total: 1, perOwner: 1, waitMs: 20, queue: 1 });
  const first = begin(slots, "a");
  const second = begin(slots, "b");
  await expect(begin(slots, "c").done).rejects.toMatchObject({ reason: "unavailable" });
  await expect(second.done).rejects.toMatchObject({ reason: "unavailable" });
  first.end();
  await first.done;
  const third = begin(slots, "c");
  expect(third.state.begun).toBe(true);
  third.end();
  await third.done;
});
