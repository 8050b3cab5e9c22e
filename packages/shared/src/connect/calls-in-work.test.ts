import { expect, test } from "vitest";
import { CallsInWork } from "./methods.ts";

test("the owner with more than its part of the calls in work is named, and no owner with less", () => {
  const calls = new CallsInWork();
  expect(calls.hasItsPart("first")).toBe(false);
  const ofFirst = Array.from({ length: 20 }, () => calls.begin("first"));
  expect(calls.hasItsPart("first")).toBe(true);
  expect(calls.hasItsPart("other")).toBe(false);

  const ofOther = Array.from({ length: 3 }, () => calls.begin("other"));
  expect(calls.hasItsPart("first")).toBe(true);
  expect(calls.hasItsPart("other")).toBe(false);

  for (const call of [...ofFirst, ...ofOther]) call[Symbol.dispose]();
  expect(calls.hasItsPart("first")).toBe(false);
});

test("no owner has room when 200 calls are in work", () => {
  const calls = new CallsInWork();
  for (let owner = 0; owner < 199; owner += 1) calls.begin(`owner ${owner}`);
  expect(calls.hasItsPart("new")).toBe(false);
  calls.begin("last");
  expect(calls.hasItsPart("new")).toBe(true);
});
