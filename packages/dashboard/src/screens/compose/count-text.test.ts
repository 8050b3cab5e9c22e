import { expect, test } from "vitest";
import { countText, splitAtLimit, textLimitOf } from "./count-text.ts";
import { previewParts } from "./preview-parts.ts";

const FAMILY = "👨‍👩‍👧‍👦";

test.each([
  ["utf16", "한국어 ok", 6],
  ["utf8_bytes", "한국어 ok", 12],
  ["graphemes", `${FAMILY}한국어`, 4],
  ["weighted", "한국어 ok", 9],
  ["weighted", `${FAMILY}!`, 3],
  ["weighted", "See https://example.com/a/very/long/path?with=a&query=string now", 31],
] as const)("in %s, %j counts %d", (unit, text, count) => {
  expect(countText(text, unit)).toBe(count);
});

test("a text is split where it passes the limit, between whole characters", () => {
  expect(splitAtLimit(`ab${FAMILY}cd`, "graphemes", 3)).toEqual([`ab${FAMILY}`, "cd"]);
  expect(splitAtLimit(`ab${FAMILY}cd`, "utf16", 5)).toEqual(["ab", `${FAMILY}cd`]);
  expect(splitAtLimit("short", "graphemes", 300)).toEqual(["short", ""]);
  expect(splitAtLimit("long", "graphemes", 0)).toEqual(["", "long"]);
});

test("on X a URL fits as a whole or not at all", () => {
  const text = "Look: https://example.com/winter";
  expect(splitAtLimit(text, "weighted", 28)).toEqual(["Look: ", "https://example.com/winter"]);
  expect(splitAtLimit(text, "weighted", 29)).toEqual([text, ""]);
});

test("the limit of a text depends on what goes with it", () => {
  const rules = (text: object) => ({ text: { max: 4096, ...text } }) as never;
  expect(textLimitOf(rules({ maxWithMedia: 1024 }), "none")).toBe(4096);
  expect(textLimitOf(rules({ maxWithMedia: 1024 }), "image")).toBe(1024);
  expect(textLimitOf(rules({ photo: { descriptionMax: 4000 } }), "image")).toBe(4000);
  expect(textLimitOf(rules({ photo: { descriptionMax: 4000 } }), "video")).toBe(4096);
});

test("a preview marks links, and what is beyond the limit, also within a link", () => {
  const parts = previewParts("a https://b.c/d e", { count: 17, max: 12, unit: "graphemes" });
  expect(
    parts.map(({ text, isLink, isOver }) => `${text}|${Number(isLink)}${Number(isOver)}`),
  ).toEqual(["a |00", "https://b.|10", "c/d|11", " e|01"]);
  expect(parts.map(({ text }) => text).join("")).toBe("a https://b.c/d e");
});
