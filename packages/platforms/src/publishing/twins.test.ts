import { expect, test } from "vitest";
import type { UnknownCall } from "./connector.ts";
import { judgeTwins, LOOKS_AFTER_MS, type Twin } from "./twins.ts";

const MINUTE_MS = 60_000;
const UNTIL = new Date("2026-11-21T12:00:00Z");

function call(afterMs: number, looks: number, owned: readonly string[] = []): UnknownCall {
  return {
    calledAt: new Date(UNTIL.getTime() - MINUTE_MS),
    callUntil: UNTIL,
    looks,
    now: new Date(UNTIL.getTime() + afterMs),
    timeScale: 1,
    isOwned: () => Promise.resolve(new Set(owned)),
  };
}

const twin = (id: string): Twin => ({ id, permalink: `https://example.test/${id}` });
const WORDS = { text: "hello" };

test("a single post with the same words is the one", async () => {
  expect(await judgeTwins([twin("1")], WORDS, call(0, 0), LOOKS_AFTER_MS)).toEqual({
    kind: "present",
    externalId: "1",
    permalink: "https://example.test/1",
  });
});

test("a post that another target owns is not the one", async () => {
  const twins = [twin("1"), twin("2")];
  expect(await judgeTwins(twins, WORDS, call(0, 0, ["1"]), [])).toMatchObject({ externalId: "2" });
  expect(await judgeTwins([twin("1")], WORDS, call(0, 0, ["1"]), [])).toEqual({ kind: "absent" });
});

test.each([
  ["several posts with the same words", [twin("1"), twin("2")], "hello"],
  ["a post without words", [twin("1")], " "],
])("%s need a person", async (_name, twins, text) => {
  expect(await judgeTwins(twins, { text }, call(0, 0), LOOKS_AFTER_MS)).toMatchObject({
    kind: "cannot_tell",
  });
});

test.each([
  [0, 0, { kind: "look_again", afterMs: MINUTE_MS }],
  [MINUTE_MS, 1, { kind: "look_again", afterMs: 2 * MINUTE_MS }],
  [3 * MINUTE_MS, 2, { kind: "look_again", afterMs: 7 * MINUTE_MS }],
  // A process that was away makes its looks late, but makes all of them.
  [60 * MINUTE_MS, 1, { kind: "look_again", afterMs: 10 }],
  [10 * MINUTE_MS - 1, 3, { kind: "look_again", afterMs: 10 }],
  [10 * MINUTE_MS, 3, { kind: "absent" }],
])("%i ms after the call and %i looks, nothing there means %j", async (afterMs, looks, verdict) => {
  expect(await judgeTwins([], WORDS, call(afterMs, looks), LOOKS_AFTER_MS)).toEqual(verdict);
});

test("a list that is complete at once proves absence at once", async () => {
  expect(await judgeTwins([], WORDS, call(0, 0), [])).toEqual({ kind: "absent" });
});
