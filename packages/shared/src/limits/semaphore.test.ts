import fc from "fast-check";
import { expect, test } from "vitest";
import { Semaphore, type AcquireOptions, type Share } from "./semaphore.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Requests permits of a semaphore; `permit` is set once they are granted. */
function request(semaphore: Semaphore, options?: AcquireOptions) {
  const asked: { permit?: Disposable; refused?: unknown } = {};
  semaphore.acquire(options).then(
    (permit) => (asked.permit = permit),
    (error: unknown) => (asked.refused = error),
  );
  return asked;
}

test("a semaphore never runs more functions at the same time than it has permits, even after a function failed", async () => {
  const semaphore = new Semaphore({ total: 3, maxWaiting: 10 });
  let [running, most] = [0, 0];
  const work = async () => {
    most = Math.max(most, (running += 1));
    await settle();
    running -= 1;
  };
  await Promise.all(Array.from({ length: 10 }, () => semaphore.run(work)));
  expect(most).toBe(3);
  await expect(semaphore.run(() => Promise.reject(new RangeError("failed")))).rejects.toThrow(
    RangeError,
  );
  await Promise.all(Array.from({ length: 10 }, () => semaphore.run(work)));
  expect(most).toBe(3);
});

test("a permit request that waits because its key has used its share of the permits does not block requests with other keys", async () => {
  const semaphore = new Semaphore({ total: 3, perKey: 2, maxWaiting: 10 });
  const a = Array.from({ length: 4 }, () => request(semaphore, { key: "a" }));
  const b = request(semaphore, { key: "b" });
  await settle();
  expect(a.map(({ permit }) => permit !== undefined)).toEqual([true, true, false, false]);
  expect(b.permit).toBeDefined();
  const c = request(semaphore, { key: "c" });
  a[0]?.permit?.[Symbol.dispose]();
  await settle();
  expect([a[2]?.permit !== undefined, c.permit !== undefined]).toEqual([true, false]);
  b.permit?.[Symbol.dispose]();
  await settle();
  expect([a[3]?.permit !== undefined, c.permit !== undefined]).toEqual([false, true]);
});

test("a request for few permits does not overtake an earlier request for many permits", async () => {
  const semaphore = new Semaphore({ total: 10, maxWaiting: 10 });
  const first = request(semaphore, { amount: 5 });
  const large = request(semaphore, { amount: 8 });
  const small = request(semaphore, { amount: 1 });
  await settle();
  expect([large.permit, small.permit, semaphore.tryAcquire()]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  first.permit?.[Symbol.dispose]();
  await settle();
  expect([large.permit, small.permit]).toEqual([expect.anything(), expect.anything()]);
});

test("a request for more permits than a semaphore has gets all permits of the semaphore", async () => {
  const semaphore = new Semaphore({ total: 10, maxWaiting: 10 });
  using _all = await semaphore.acquire({ amount: 1_000 });
  expect(semaphore.tryAcquire()).toBeUndefined();
});

test("a request for a permit is refused immediately when the maximum number of requests already waits", async () => {
  const semaphore = new Semaphore({ total: 1, maxWaiting: 1 });
  const permit = await semaphore.acquire();
  const waiting = request(semaphore);
  await expect(semaphore.acquire()).rejects.toMatchObject({ reason: "unavailable" });
  permit[Symbol.dispose]();
  await settle();
  expect(waiting.permit).toBeDefined();
});

test("a request for a permit is refused when too many requests of its owner wait, and other owners still get a place in the queue", async () => {
  const semaphore = new Semaphore({ total: 1, maxWaiting: 4, maxWaitingPerShare: 2 });
  const ask = (...keys: readonly string[]) =>
    request(semaphore, { shares: keys.map((key) => ({ key })) });
  const all = [ask("a"), ask("a"), ask("a", "b"), ask("a"), ask("b"), ask("b"), ask("c")];
  await settle();
  expect(all.map(({ refused }) => refused !== undefined)).toEqual([
    false,
    false,
    false,
    true,
    false,
    true,
    false,
  ]);
});

test("when the queue is full, an owner with fewer requests in it gets the place of the newest one of the owner with the most", async () => {
  const semaphore = new Semaphore({ total: 1, maxWaiting: 4 });
  const ask = (key: string) => request(semaphore, { shares: [{ key }] });
  const all = ["x", "a", "a", "a", "b", "c", "a", "d"].map(ask);
  await settle();
  expect(all.map(({ refused }) => refused !== undefined)).toEqual([
    false,
    false,
    true,
    true,
    false,
    false,
    true,
    false,
  ]);
});

test("a kind of work that many owners share is not treated as one owner that fills the queue", async () => {
  const semaphore = new Semaphore({ total: 4, maxWaiting: 9, maxWaitingPerShare: 2 });
  const kind = { key: "slow", max: 1, isCommon: true };
  const all = ["a", "a", "a", "a", "b", "b", "c"].map((key) =>
    request(semaphore, { shares: [{ key }, kind] }),
  );
  await settle();
  expect(all.map(({ refused }) => refused !== undefined)).toEqual([
    false,
    false,
    false,
    true,
    false,
    false,
    false,
  ]);
});

test("a request for a permit that waits too long is refused and uses no permit afterwards", async () => {
  const semaphore = new Semaphore({ total: 1, maxWaiting: 1, maxWaitMs: 5 });
  const permit = await semaphore.acquire();
  await expect(semaphore.acquire()).rejects.toMatchObject({ reason: "unavailable" });
  permit[Symbol.dispose]();
  expect(semaphore.tryAcquire()).toBeDefined();
});

test("an aborted request for permits fails with the signal's reason, and the requests behind it proceed", async () => {
  const semaphore = new Semaphore({ total: 2, maxWaiting: 2 });
  using _one = await semaphore.acquire();
  const controller = new AbortController();
  const large = request(semaphore, { amount: 2, signal: controller.signal });
  const small = request(semaphore);
  await settle();
  expect(small.permit).toBeUndefined();
  controller.abort(new RangeError("stopped"));
  await settle();
  expect([large.refused, small.permit]).toEqual([new RangeError("stopped"), expect.anything()]);
  await expect(semaphore.acquire({ signal: controller.signal })).rejects.toThrow(RangeError);
});

test("releasing a permit twice frees only one permit", async () => {
  const semaphore = new Semaphore({ total: 2 });
  const first = await semaphore.acquire();
  using _second = await semaphore.acquire();
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  using _third = await semaphore.acquire();
  expect(semaphore.tryAcquire()).toBeUndefined();
});

/**
 * A random step: requests permits, releases the n-th granted request, or aborts the n-th waiting
 * request.
 */
const step = fc.oneof(
  fc.record({
    kind: fc.constant("request" as const),
    key: fc.constantFrom("a", "b", "c"),
    amount: fc.integer({ min: 1, max: 8 }),
  }),
  fc.record({ kind: fc.constant("release" as const), nth: fc.nat(20) }),
  fc.record({ kind: fc.constant("abort" as const), nth: fc.nat(20) }),
);

test("in any order of requests, releases and aborts, a semaphore keeps its limits, leaves no permit unused and grants all unaborted requests", async () => {
  const limits = { total: 7, perKey: 4, maxWaiting: Infinity };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const semaphore = new Semaphore(limits);
      const all: {
        readonly key: string;
        readonly amount: number;
        readonly asked: ReturnType<typeof request>;
        readonly abort: AbortController;
        isReleased: boolean;
      }[] = [];
      const held = () => all.filter((it) => it.asked.permit !== undefined && !it.isReleased);
      const waiting = () =>
        all.filter(({ asked }) => asked.permit === undefined && asked.refused === undefined);
      const sum = (list: readonly { readonly amount: number }[]) =>
        list.reduce((total, { amount }) => total + amount, 0);
      const usedBy = (key: string) => sum(held().filter((it) => it.key === key));
      const release = (it: (typeof all)[number]) => {
        it.isReleased = true;
        it.asked.permit?.[Symbol.dispose]();
      };
      for (const next of steps) {
        if (next.kind === "request") {
          const abort = new AbortController();
          const asked = request(semaphore, { ...next, signal: abort.signal });
          const amount = Math.min(next.amount, limits.perKey);
          all.push({ key: next.key, amount, asked, abort, isReleased: false });
        } else if (next.kind === "release") {
          const one = held()[next.nth % Math.max(1, held().length)];
          if (one !== undefined) release(one);
        } else waiting()[next.nth % Math.max(1, waiting().length)]?.abort.abort();
        await settle();
        expect(sum(held())).toBeLessThanOrEqual(limits.total);
        for (const key of ["a", "b", "c"]) expect(usedBy(key)).toBeLessThanOrEqual(limits.perKey);
        // If the first waiting request of a key fits into what is left of the share of this key,
        // the request may wait only because too few permits are free in total.
        const firsts = ["a", "b", "c"].flatMap(
          (key) => waiting().find((it) => it.key === key) ?? [],
        );
        const [first] = waiting().filter(
          (it) => firsts.includes(it) && usedBy(it.key) + it.amount <= limits.perKey,
        );
        expect(sum(held()) + (first?.amount ?? Infinity)).toBeGreaterThan(limits.total);
      }
      for (let one = held()[0]; one !== undefined; one = held()[0]) {
        release(one);
        await settle();
      }
      expect(waiting()).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

test("an owner without a permit gets the next free one, however many requests of owners with permits wait before it", async () => {
  const semaphore = new Semaphore({ total: 16, maxWaiting: 100 });
  const ask = (key: string) =>
    request(semaphore, {
      shares: [
        { key, perFree: 1 },
        { key: "long", max: 4 },
      ],
    });
  const held = [ask("a"), ask("a"), ask("b"), ask("b")];
  const waiting = Array.from({ length: 20 }, (_, index) => ask(index % 2 === 0 ? "a" : "b"));
  const other = ask("c");
  await settle();
  expect([waiting[0]?.permit, other.permit]).toEqual([undefined, undefined]);
  held[0]?.permit?.[Symbol.dispose]();
  await settle();
  expect([waiting[0]?.permit, other.permit]).toEqual([undefined, expect.anything()]);
  other.permit?.[Symbol.dispose]();
  await settle();
  expect(waiting[0]?.permit).toBeDefined();
});

/**
 * Takes single permits for the owners of these shares until the semaphore refuses one, and returns
 * the permits.
 */
function takeAll(semaphore: Semaphore, shares: readonly Share[]): Disposable[] {
  const permits: Disposable[] = [];
  for (;;) {
    const permit = semaphore.tryAcquire({ shares });
    if (permit === undefined) return permits;
    permits.push(permit);
  }
}

test("a fair semaphore gives a single owner half of the permits, and each further owner half of the permits that are left", () => {
  const semaphore = new Semaphore({ total: 256 });
  const counts = Array.from(
    { length: 7 },
    (_, owner) => takeAll(semaphore, [{ key: `owner ${owner}`, perFree: 1 }]).length,
  );
  expect(counts).toEqual([128, 64, 32, 16, 8, 4, 2]);
  expect(takeAll(semaphore, [{ key: "another owner", perFree: 1 }])).toHaveLength(1);
});

test("a permit request is granted only if each share that it counts towards has room, so the smallest share decides", () => {
  const semaphore = new Semaphore({ total: 100 });
  const workspace = { key: "workspace", perFree: 1 };
  const [first] = takeAll(semaphore, [workspace, { key: "grant 1", max: 1 }]);
  expect(semaphore.tryAcquire({ shares: [workspace, { key: "grant 1", max: 1 }] })).toBeUndefined();
  expect(takeAll(semaphore, [workspace, { key: "file", perFree: 1 / 3 }])).toHaveLength(25);
  expect(takeAll(semaphore, [workspace])).toHaveLength(24);
  expect(semaphore.tryAcquire({ shares: [workspace, { key: "grant 2", max: 1 }] })).toBeUndefined();
  first?.[Symbol.dispose]();
  expect(semaphore.tryAcquire({ shares: [workspace, { key: "grant 1", max: 1 }] })).toBeDefined();
});

test("a permit request that waits for a full share does not delay requests that do not count towards that share", async () => {
  const semaphore = new Semaphore({ total: 10, maxWaiting: 10 });
  const ask = (grant: string) =>
    request(semaphore, { shares: [{ key: "workspace" }, { key: grant, max: 1 }] });
  const [first, second, third, other] = [ask("a"), ask("a"), ask("a"), ask("b")];
  await settle();
  expect([first, second, third, other].map(({ permit }) => permit !== undefined)).toEqual([
    true,
    false,
    false,
    true,
  ]);
  first.permit?.[Symbol.dispose]();
  await settle();
  expect([second.permit !== undefined, third.permit !== undefined]).toEqual([true, false]);
});

test("an owner without permits gets its first request granted, however large, ahead of owners that already have permits", async () => {
  const semaphore = new Semaphore({ total: 10, maxWaiting: 10 });
  const ask = (key: string, amount: number) =>
    request(semaphore, { amount, shares: [{ key, perFree: 1 }] });
  const [large, more, newcomer] = [ask("a", 6), ask("a", 1), ask("b", 8)];
  await settle();
  expect([large, more, newcomer].map(({ permit }) => permit !== undefined)).toEqual([
    true,
    false,
    false,
  ]);
  const small = ask("c", 1);
  large.permit?.[Symbol.dispose]();
  await settle();
  expect([more, newcomer, small].map(({ permit }) => permit !== undefined)).toEqual([
    true,
    true,
    true,
  ]);
});

test("a request that waits or is refused while no permit is free looks at no other waiting request", async () => {
  const semaphore = new Semaphore({ total: 1, maxWaiting: 500 });
  const permit = await semaphore.acquire();
  let looks = 0;
  const share = {
    get key() {
      looks += 1;
      return "owner";
    },
  };
  const waiting = Array.from({ length: 600 }, () => semaphore.acquire({ shares: [share] }));
  const ended = Promise.allSettled(waiting);
  await expect(waiting.at(-1)).rejects.toMatchObject({ reason: "unavailable" });
  expect(looks).toBeLessThan(2_000);

  permit[Symbol.dispose]();
  for (const each of waiting.slice(0, 500)) (await each)[Symbol.dispose]();
  expect((await ended).filter(({ status }) => status === "fulfilled")).toHaveLength(500);
});

test("a release and a new request look at one waiting request of each owner, however many wait", async () => {
  const semaphore = new Semaphore({ total: 5, maxWaiting: Infinity });
  let looks = 0;
  const flood = {
    max: 2,
    get key() {
      looks += 1;
      return "flood";
    },
  };
  const flooding = Array.from({ length: 1_000 }, () => semaphore.acquire({ shares: [flood] }));
  const other = await semaphore.acquire({ shares: [{ key: "other", max: 2 }] });
  looks = 0;
  using _one = await semaphore.acquire({ shares: [{ key: "other", max: 2 }] });
  other[Symbol.dispose]();
  expect(looks).toBeLessThan(50);

  for (const each of flooding) (await each)[Symbol.dispose]();
});

test.each([
  ["of an owner", (name: string) => ({ shares: [{ key: name }] })],
  ["without an owner", () => ({ shares: [{ key: "kind", isCommon: true }] })],
])(
  "when the queue is full of one request of each owner, a new one %s is refused and no older one",
  async (_title, optionsOf) => {
    const semaphore = new Semaphore({ total: 1, maxWaiting: 3 });
    const permit = await semaphore.acquire();
    const waiting = ["a", "b", "c"].map((key) => semaphore.acquire({ shares: [{ key }] }));
    await expect(semaphore.acquire(optionsOf("d"))).rejects.toMatchObject({
      reason: "unavailable",
    });
    permit[Symbol.dispose]();
    for (const each of waiting) (await each)[Symbol.dispose]();
  },
);

test("requests without an owner that fill the queue lose their places to an owner with fewer requests", async () => {
  const semaphore = new Semaphore({ total: 1, maxWaiting: 3 });
  using _held = await semaphore.acquire({ shares: [] });
  const ownerless = [1, 2, 3].map(() => request(semaphore, { shares: [] }));
  const owned = request(semaphore, { shares: [{ key: "a" }] });
  await settle();
  expect(ownerless.map(({ refused }) => refused !== undefined)).toEqual([false, false, true]);
  expect(owned.refused).toBeUndefined();
});
