import { expect, test } from "vitest";
import type { DetailEntry } from "#src/http/catalogue/entry.ts";
import { ALL_DETAILS, ALL_ERRORS } from "#src/http/error-codes.ts";
import { chooseLocale, messageFor, SPECIAL_TEXTS } from "#src/http/messages.ts";

const CODES = [...Object.keys(ALL_ERRORS), ...Object.keys(ALL_DETAILS)];
const SPECIAL = Object.keys(SPECIAL_TEXTS);
const ENTRIES: readonly (readonly [string, DetailEntry])[] = [
  ...Object.entries(ALL_ERRORS),
  ...Object.entries(ALL_DETAILS),
  ...Object.entries(SPECIAL_TEXTS),
];

const placeholders = (texts: readonly string[]) =>
  [...texts.join(" ").matchAll(/\{(\w+)/g)].map(([, name = ""]) => name).toSorted();

test("the error catalogue contains every error code once", () => {
  expect(new Set(CODES).size).toBe(CODES.length);
});

test.each(ENTRIES)(
  "the English and Korean texts of %s contain the same placeholders, and each text says a cause and a remedy",
  (_, { texts: { en, ko } }) => {
    expect(placeholders(ko)).toEqual(placeholders(en));
    for (const text of en) expect(text).toMatch(/^[A-Z].*\.$/);
    for (const text of ko) expect(text).toMatch(/[가-힣].*\.$/);
  },
);

test("an error message never contains a placeholder, with or without parameters", () => {
  const numbers = { limit: 1, actual: 2, used: 3, reserved: 4, requested: 5 };
  const texts = { expected: "e", found: "f", allowed: "a", status: "s", reason: "r", postId: "p" };
  const all = { ...numbers, ...texts };
  for (const locale of ["en", "ko"] as const)
    for (const code of [...CODES, ...SPECIAL])
      for (const params of [{}, { limit: 1 }, all])
        expect(messageFor(locale, code, params), code).not.toMatch(/[[\]{}]|undefined/);
});

test("an error message contains the parameters that are known", () => {
  expect(messageFor("en", "too_many_media", { limit: 4, actual: 5 })).toBe(
    "There are too many media: 5, at most 4 are allowed. Remove some.",
  );
  expect(messageFor("ko", "too_many_media", { limit: 4, actual: 5 })).toBe(
    "미디어가 너무 많습니다(5개, 최대 4개). 줄여 주세요.",
  );
});

test("an error message omits the part whose parameter is unknown", () => {
  expect(messageFor("en", "too_many_media", { limit: 4 })).toBe(
    "There are too many media. Remove some.",
  );
});

test("an error message contains the limit even if it is zero", () => {
  expect(messageFor("en", "too_many_hashtags", { limit: 0, actual: 1 })).toContain("at most 0");
});

test.each(["", "unknown_code", "__proto__", "toString", "constructor"])(
  "the unknown error code %j has a general message",
  (code) => {
    expect(messageFor("en", code)).toBe(
      "This value is not valid. Send what the API description names.",
    );
    expect(messageFor("ko", code)).toMatch(/^값이 올바르지 않습니다\./);
  },
);

test.each([
  [undefined, "en", "en"],
  [undefined, "ko", "ko"],
  ["", "ko", "ko"],
  ["*", "en", "en"],
  ["*", "ko", "ko"],
  ["ko", "en", "ko"],
  ["en", "ko", "en"],
  ["KO-kr", "en", "ko"],
  ["ko-KR,ko;q=0.9,en;q=0.8", "en", "ko"],
  ["en-US,en;q=0.9,ko;q=0.8", "ko", "en"],
  ["en;q=0.5, ko;q=0.6", "en", "ko"],
  ["ko ; q=0.4 , en ; Q=0.5", "ko", "en"],
  ["fr, de;q=0.9, ko;q=0.1", "en", "ko"],
  ["fr, de", "ko", "ko"],
  ["ko;q=0", "en", "en"],
  ["ko;q=0, en;q=0.1", "ko", "en"],
  ["ko, en", "en", "ko"],
  ["kok, kos", "en", "en"],
  ["ko;q=high, en;q=2, ;;,,=", "en", "en"],
] as const)(
  "the Accept-Language header %j with the default language %s selects the language %s",
  (header, defaultLocale, expected) => {
    expect(chooseLocale(header, defaultLocale)).toBe(expected);
  },
);
