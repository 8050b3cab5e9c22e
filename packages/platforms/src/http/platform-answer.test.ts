import { anyText } from "@postrider/shared/testing/any-text";
import fc from "fast-check";
import { expect, test } from "vitest";
import { count, shorten, time, toAnswer } from "#src/http/platform-answer.ts";

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

test.each([1.5, -1, 1e300, 2 ** 53, "3", null, undefined])(
  "the counter %j of a platform's answer is null, because it cannot be stored",
  (value) => expect(count({ value }, "value")).toBeNull(),
);

test.each(["", "yesterday", "+012026-01-01T00:00:00Z", "-000001-01-01T00:00:00Z", 0, undefined])(
  "the time %j of a platform's answer is undefined, because it cannot be stored",
  (value) => expect(time({ value }, "value")).toBeUndefined(),
);

test("counters and times of a platform's answer that can be stored are read", () => {
  const answer = { likes: 0, views: Number.MAX_SAFE_INTEGER, at: "2026-11-23T12:00:00+0100" };
  expect(count(answer, "likes")).toBe(0);
  expect(count(answer, "views")).toBe(Number.MAX_SAFE_INTEGER);
  expect(time(answer, "at")).toEqual(new Date("2026-11-23T11:00:00Z"));
});
