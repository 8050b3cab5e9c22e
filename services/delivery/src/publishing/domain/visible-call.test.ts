import { measureCpuMs } from "@postrider/shared/testing/hostile-texts";
import { expect, test } from "vitest";
import { createSendGuard, hashContent } from "./visible-call.ts";

const content = { text: "One  two\n", title: undefined, mediaIds: ["a", "b"] };

test("white space and Unicode composition do not change the hash of a post's content", () => {
  expect(hashContent({ ...content, text: " One two" })).toBe(hashContent(content));
  expect(hashContent({ ...content, text: "e\u0301" })).toBe(hashContent({ ...content, text: "é" }));
});

test("the text, the title, the media and the order of the media change the hash of a post's content", () => {
  const others = [
    { ...content, text: "one two" },
    { ...content, title: "title" },
    { ...content, mediaIds: ["b", "a"] },
    { ...content, mediaIds: ["a"] },
  ];
  expect(new Set([content, ...others].map(hashContent)).size).toBe(5);
});

test("the hash of a post of the maximum length takes processor time that is linear in its length, also with combining marks", async () => {
  const text = "\u0f73".repeat(63_206);
  expect(await measureCpuMs(() => hashContent({ ...content, text }))).toBeLessThan(500);
  expect(hashContent({ ...content, text })).toBe(hashContent({ ...content, text: ` ${text}` }));
});

function clocksAt() {
  const now = { monotonic: 1_000, wall: 2_000 };
  return { now, clocks: { monotonic: () => now.monotonic, wall: () => now.wall } };
}

test("a publishing call may be sent only within a twelfth of its maximum duration, and at most 5 s, after its worker requested its start", () => {
  const { now, clocks } = clocksAt();
  const short = createSendGuard(clocks, 6_000);
  const long = createSendGuard(clocks, 600_000);

  now.monotonic += 499;
  expect([short.mayStillSend(), long.mayStillSend()]).toEqual([true, true]);
  now.monotonic += 1;
  expect([short.mayStillSend(), long.mayStillSend()]).toEqual([false, true]);
  now.monotonic += 4_499;
  expect(long.mayStillSend()).toBe(true);
  now.monotonic += 1;
  expect(long.mayStillSend()).toBe(false);
});

test.each([60_000, -60_000])(
  "a publishing call is not sent when the wall clock jumps by %i ms before it",
  (ms) => {
    const { now, clocks } = clocksAt();
    const guard = createSendGuard(clocks, 60_000);

    now.wall += ms;

    expect(guard.mayStillSend()).toBe(false);
  },
);

test("the deadline of a publishing call is shortened by the time that passes before its first byte", () => {
  const { now, clocks } = clocksAt();
  const guard = createSendGuard(clocks, 60_000);

  now.monotonic += 4_000;

  expect(guard.timeoutMs).toBe(56_000);
});
