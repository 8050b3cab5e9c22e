import { expect, test, vi } from "vitest";
import { CallPace } from "./call-pace.ts";

const RUNNING = new AbortController().signal;

/** Lets calls to a platform begin, and lists those that have begun. `end` ends the oldest of them. */
function openPace(holdAfterUnknowns = 5) {
  let now = 0;
  const pace = new CallPace({
    clocks: { monotonic: () => now },
    settings: { holdAfterUnknowns },
  });
  const begun: Disposable[] = [];
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  return {
    begun,
    advance: (ms: number) => (now += ms),
    begin: async (count: number, signal = RUNNING) => {
      for (let index = 0; index < count; index += 1)
        void pace.enter("x", signal).then((place) => begun.push(place));
      await settle();
    },
    end: async (isAnswered: boolean | undefined) => {
      pace.learn("x", isAnswered);
      begun.shift()?.[Symbol.dispose]();
      await settle();
    },
  };
}

test("at most four calls are open to a platform that has not answered one yet, and all others begin after its first answer", async () => {
  const { begun, begin, end } = openPace();
  await begin(40);
  expect(begun).toHaveLength(4);

  await end(true);

  expect(begun).toHaveLength(39);
});

test("after an unknown outcome, one call at a time is open until the platform answers", async () => {
  const { begun, begin, end } = openPace();
  await begin(40);

  for (const open of [3, 2, 1, 1, 1]) {
    await end(false);
    expect(begun).toHaveLength(open);
  }
});

test("an outcome that says nothing about the platform lets the next waiting call begin", async () => {
  const { begun, begin, end } = openPace();
  await begin(6);

  await end(undefined);

  expect(begun).toHaveLength(4);
});

test("an answer shows for ten seconds that a platform answers", async () => {
  const { begun, begin, end, advance } = openPace();
  await begin(1);
  await end(true);
  advance(9_000);
  await begin(20);
  expect(begun).toHaveLength(20);
  for (let index = 0; index < 20; index += 1) await end(undefined);

  advance(2_000);
  await begin(20);

  expect(begun).toHaveLength(4);
});

test("one more call begins every five seconds while a platform does not respond", async () => {
  vi.useFakeTimers();
  try {
    const { begun, begin } = openPace();
    await begin(40);

    await vi.advanceTimersByTimeAsync(10_000);

    expect(begun).toHaveLength(6);
  } finally {
    vi.useRealTimers();
  }
});

test("a waiting call whose work is interrupted stops waiting", async () => {
  const { begun, begin } = openPace();
  const stop = new AbortController();
  await begin(4);
  await begin(1, stop.signal);

  stop.abort();
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();

  expect(begun).toHaveLength(5);
});

test("any number of calls are open at a time when no platform is ever held", async () => {
  const { begun, begin } = openPace(0);
  await begin(40);

  expect(begun).toHaveLength(40);
});
