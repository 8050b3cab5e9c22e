import type { Account, Platform } from "@postrider/client";
import { expect, test } from "vitest";
import { shownLength, toWriters, type Writer } from "./composition.ts";
import type { Draft } from "./draft.ts";
import type { Fault } from "./faults.ts";

const writer = { id: "x", rules: { text: { unit: "weighted", max: 280 } } } as unknown as Writer;
// The page counts it as a link, which is 23 on X; the server knows that the domain does not exist.
const content = "https://winter.example/on-the-house-for-the-first-ten-riders";
const draft = { text: content, own: {}, media: [] } as unknown as Draft;
const fault = { code: "content_too_long", accountId: "x", limit: 280, actual: 300 } as Fault;

test("the length that is shown is the server's where it has counted the text as it is now, and only for the limit that is shown", () => {
  const count = (faults: readonly Fault[], isChecked = true) =>
    shownLength({ draft, faults, isChecked }, writer).count;
  expect(count([])).toBe(23);
  expect(count([fault])).toBe(300);
  expect(count([fault], false)).toBe(23);
  expect(count([{ ...fault, accountId: "y" }])).toBe(23);
  expect(count([{ ...fault, limit: 4096 }])).toBe(23);
});

test("accounts that cannot publish now come last, the others stay in their order", () => {
  const accounts = ["a", "b", "c"].map((id) => ({
    id,
    platform: "x",
    status: id === "a" ? "reconnect_required" : "active",
  })) as unknown as readonly Account[];
  const platforms = [{ id: "x", available: true, rules: {} }] as unknown as readonly Platform[];
  expect(toWriters(accounts, platforms).map(({ id }) => id)).toEqual(["b", "c", "a"]);
});
