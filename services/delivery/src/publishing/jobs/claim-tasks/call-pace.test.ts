import { expect, test, vi } from "vitest";
import { CallPace } from "./call-pace.ts";

const RUNNING = new AbortController().signal;

/**
 * Creates a `CallPace` for publishing calls. `begin` asks to begin calls to one platform, `begun`
 * lists the open calls, and `end` ends the oldest open call.
 */
function openPace(holdAfterUnknowns = 5) {
  let now = 0;
  const pace = new CallPace({
    now: () => now,
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

test("at most four publishing calls are open to a platform that has not answered any call yet, and all waiting calls begin after its first answer", async () => {
  const { begun, begin, end } = openPace();
  await begin(40);
  expect(begun).toHaveLength(4);

  await end(true);

  expect(begun).toHaveLength(39);
});

test("after a call with an unknown outcome, only one call to the platform may be open at a time until the platform answers", async () => {
  const { begun, begin, end } = openPace();
  await begin(40);

  for (const open of [3, 2, 1, 1, 1]) {
    await end(false);
    expect(begun).toHaveLength(open);
  }
});

test("the next waiting call to a platform begins when a call ends with an outcome that does not show whether the platform answers", async () => {
  const { begun, begin, end } = openPace();
  await begin(6);

  await end(undefined);

  expect(begun).toHaveLength(4);
});

test("when the last answer of a platform is more than ten seconds old, at most four calls to the platform are open at a time again", async () => {
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

test("while a platform answers none of its open calls, one more waiting call to the platform begins every five seconds", async () => {
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

test("a call that waits to begin stops waiting when its worker aborts it", async () => {
  const { begun, begin } = openPace();
  const stop = new AbortController();
  await begin(4);
  await begin(1, stop.signal);

  stop.abort();
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();

  expect(begun).toHaveLength(5);
});

test("the number of open publishing calls to a platform is not limited when the settings never hold a platform", async () => {
  const { begun, begin } = openPace(0);
  await begin(40);

  expect(begun).toHaveLength(40);
});
