import { expect, test } from "vitest";
import { signToken, verifyToken } from "./signed-token.ts";

const KEY = "k".repeat(32);
const EXPIRES = new Date("2026-11-20T09:00:00.000Z");
const BEFORE = new Date("2026-11-20T08:59:59.999Z");
const token = signToken(KEY, "media", { id: "a", rendition: "original" }, EXPIRES);

test("verifying a signed token returns the values in it (its claims) until the token expires", () => {
  expect(verifyToken(KEY, "media", token, BEFORE)).toEqual({ id: "a", rendition: "original" });
  expect(verifyToken(KEY, "media", token, EXPIRES)).toBeUndefined();
});

test("a signed token can be used as one URL path segment without escaping", () => {
  expect(token).toMatch(/^[\w.-]+$/);
});

test("a signed token is invalid with another key, for another purpose, and after any change", () => {
  expect(verifyToken("x".repeat(32), "media", token, BEFORE)).toBeUndefined();
  expect(verifyToken(KEY, "cursor", token, BEFORE)).toBeUndefined();
  for (let index = 0; index < token.length; index += 1) {
    for (const other of ["A", "B", "."]) {
      if (token[index] === other) continue;
      const changed = token.slice(0, index) + other + token.slice(index + 1);
      expect(verifyToken(KEY, "media", changed, BEFORE)).toBeUndefined();
    }
    expect(verifyToken(KEY, "media", token.slice(0, index), BEFORE)).toBeUndefined();
  }
  expect(verifyToken(KEY, "media", `${token}.`, BEFORE)).toBeUndefined();
  expect(verifyToken(KEY, "media", `${token}=`, BEFORE)).toBeUndefined();
});
