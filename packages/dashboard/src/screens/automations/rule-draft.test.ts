import { expect, test } from "vitest";
import { faultsOf, newDraft, withWords } from "./rule-draft.ts";

test("an empty rule names what is missing, in the order of its fields", () => {
  expect(faultsOf(newDraft(""))).toEqual(["name", "account", "keywords", "message"]);
});

test("a rule for chosen posts needs one of them, and its message may have 1,000 bytes", () => {
  const whole = { ...newDraft("a"), name: "Prices", keywords: ["price"] };
  expect(faultsOf({ ...whole, message: "가".repeat(333), mediaIds: null })).toEqual([]);
  expect(faultsOf({ ...whole, message: "가".repeat(334), mediaIds: [] })).toEqual([
    "posts",
    "messageLong",
  ]);
});

test("words are split at commas, and none is repeated", () => {
  expect(withWords(["price"], " cost,  price, 가격 ,")).toEqual(["price", "cost", "가격"]);
});
