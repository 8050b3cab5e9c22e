import { anyText } from "@postrider/shared/testing/any-text";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shorten, toAnswer } from "#src/http/platform-answer.ts";

/**
 * Matches what Postgres refuses in a text or in JSON: a NUL character or half of a surrogate pair.
 */
const isStorable = (text: string) => text.isWellFormed() && !text.includes("\0");

test("shorten() never cuts an emoji in half", () => {
  for (const offset of [0, 1]) {
    const message = shorten("a".repeat(offset) + "😀".repeat(200));
    expect(isStorable(message)).toBe(true);
    expect(message).toMatch(/^a?(?:😀)+…$/u);
    expect(message.length).toBeLessThanOrEqual(300);
  }
});

test("shorten() replaces NUL characters and halves of surrogate pairs, which Postgres cannot store", () => {
  expect(shorten("a\0b\ud83d")).toBe("a\ufffdb\ufffd");
});

test("for any message, shorten() returns text that Postgres can store", () => {
  fc.assert(
    fc.property(anyText({ maxLength: 700 }), fc.nat(700), (text, start) => {
      const message = shorten(`${text.slice(start)}\ud800\0${text}`);
      expect(isStorable(message)).toBe(true);
      expect(message.length).toBeLessThanOrEqual(300);
    }),
  );
});

test("every text in a parsed platform answer can be stored in Postgres", () => {
  const body = String.raw`{"id":"1\u0000","half\uD83D":["\udc00",{"name":"\uD83D\uDE00","n":12345678901234567890}]}`;
  expect(toAnswer(200, {}, body).json).toEqual({
    id: "1\ufffd",
    "half\ufffd": ["\ufffd", { name: "😀", n: "12345678901234567890" }],
  });
});

test("parsing a platform's answer does not change texts that Postgres can store", () => {
  const json = { text: "e\u0301 \u0001 \\u0000 😀", more: null };
  expect(toAnswer(200, {}, JSON.stringify(json)).json).toEqual(json);
});
