import { expect, test } from "vitest";
import type { Writer } from "./composition.ts";
import type { Fault } from "./faults.ts";
import { counterText, tileState } from "./tile-state.ts";

const writer = { status: "active", isAvailable: true } as Writer;
const facts = {
  writer,
  isChosen: true,
  faults: [],
  length: { count: 310, max: 300, unit: "graphemes" },
  isChecked: false,
} as const;
const fault = (code: string, place: Fault["place"]): Fault => ({
  code,
  place,
  isOwn: false,
  message: "",
});

test("a text that is too long is marked at once, before the server is asked", () => {
  expect(tileState(facts)).toEqual({ tone: "over", says: "counter" });
});

test("the server's answer goes before the count, because it knows the limits of the account", () => {
  expect(tileState({ ...facts, isChecked: true }).tone).not.toBe("over");
});

test("what stands in the way of an account is named", () => {
  const short = { ...facts, length: { ...facts.length, count: 10 } };
  const says = (changes: object) => tileState({ ...short, ...changes }).says;
  expect(says({ isChosen: false })).toBe("unchosen");
  expect(says({ writer: { ...writer, status: "reconnect_required" } })).toBe("reconnect");
  expect(says({ writer: { ...writer, isAvailable: false } })).toBe("unavailable");
  expect(says({ faults: [fault("needs_video", "media")] })).toBe("video");
  expect(says({ faults: [fault("title_required", "title")] })).toBe("no-title");
  expect(says({ faults: [fault("title_too_long", "title")] })).toBe("title");
  expect(says({})).toBe("counter");
});

test("a limit that no text comes near is left out", () => {
  expect(counterText({ count: 1310, max: 2200, unit: "utf16" }, "en")).toBe("1,310/2,200");
  expect(counterText({ count: 310, max: 63_206, unit: "utf16" }, "en")).toBe("310");
});
