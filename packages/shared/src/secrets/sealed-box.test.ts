import { createSecretKey, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { boxKeyOf, openBox, sealBox } from "#src/secrets/sealed-box.ts";

const keys = [{ id: "k1", secret: createSecretKey(randomBytes(32)) }];
const sealed = sealBox(boxKeyOf(keys, "one"), "one", "a token");

test("only the owner of the key decrypts a box, and two boxes of one text differ", () => {
  expect(openBox(keys, "one", sealed)).toBe("a token");
  expect(sealBox(boxKeyOf(keys, "one"), "one", "a token")).not.toEqual(sealed);
  expect(() =>
    openBox([{ id: "k1", secret: createSecretKey(randomBytes(32)) }], "one", sealed),
  ).toThrow("changed");
});

test("a box that was changed, shortened or sealed for another purpose is refused", () => {
  for (let at = 0; at < sealed.length; at += 7) {
    const other = Buffer.from(sealed);
    other[at] = (other[at] ?? 0) ^ 1;
    expect(() => openBox(keys, "one", other)).toThrow("changed");
  }
  for (const length of [0, 20, 59, sealed.length - 1])
    expect(() => openBox(keys, "one", sealed.subarray(0, length))).toThrow("changed");
  expect(() => openBox(keys, "two", sealed)).toThrow("changed");
  const other = sealBox(boxKeyOf(keys, "one"), "two", "a token");
  expect(() => openBox(keys, "one", other)).toThrow("changed");
});
