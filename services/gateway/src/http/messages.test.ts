import { expect, test } from "vitest";
import { ERROR_CODES, VIOLATION_CODES } from "#src/http/error-codes.ts";
import { MESSAGES_EN } from "#src/http/messages-en.ts";
import { MESSAGES_KO } from "#src/http/messages-ko.ts";
import { chooseLocale, messageFor } from "#src/http/messages.ts";

const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

test("English and Korean have messages for exactly the error codes that exist", () => {
  const codes = [...ERROR_CODES, ...VIOLATION_CODES].sort();
  expect(Object.keys(MESSAGES_EN).sort()).toEqual(codes);
  expect(Object.keys(MESSAGES_KO).sort()).toEqual(codes);
});

test("every error code is listed once", () => {
  const codes = [...ERROR_CODES, ...VIOLATION_CODES];
  expect(new Set(codes).size).toBe(codes.length);
});

test("the English and Korean messages of a code have the same parameters and end with a full stop", () => {
  for (const code of [...ERROR_CODES, ...VIOLATION_CODES]) {
    expect(placeholders(MESSAGES_KO[code]), code).toEqual(placeholders(MESSAGES_EN[code]));
    expect(MESSAGES_EN[code], code).toMatch(/^[A-Z].*\.$/);
    expect(MESSAGES_KO[code], code).toMatch(/[가-힣].*\.$/);
  }
});

test("an error message never contains a placeholder, with or without parameters", () => {
  const all = { limit: 1, actual: 2, used: 3, reserved: 4, requested: 5, fits: "6" };
  for (const locale of ["en", "ko"] as const) {
    for (const code of [...ERROR_CODES, ...VIOLATION_CODES]) {
      for (const params of [{}, { limit: 1 }, all]) {
        expect(messageFor(locale, code, params), code).not.toMatch(/[[\]{}]|undefined/);
      }
    }
  }
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
    expect(messageFor("en", code)).toBe("This value is not valid.");
    expect(messageFor("ko", code)).toBe("값이 올바르지 않습니다.");
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
