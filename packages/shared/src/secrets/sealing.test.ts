import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { seal, SealError, unseal, type SealingKey } from "./sealing.ts";

const place = { table: "credentials", rowId: "row-1", column: "access_token" };
const older: SealingKey = { id: "k1", secret: randomBytes(32) };
const newer: SealingKey = { id: "k2", secret: randomBytes(32) };
const nonce = () => randomBytes(12);

test("an encrypted (sealed) text can be decrypted only for the table, row and column that it was encrypted for", () => {
  const sealed = seal([newer], place, "secret token", nonce());
  expect(unseal([newer], place, sealed)).toBe("secret token");
  for (const other of [
    { ...place, rowId: "row-2" },
    { ...place, column: "refresh_token" },
    { ...place, table: "tickets" },
  ]) {
    expect(() => unseal([newer], other, sealed)).toThrow(SealError);
  }
});

test("texts are encrypted with the newest key, and texts encrypted with older keys can still be decrypted", () => {
  const old = seal([older], place, "old", nonce());
  const fresh = seal([newer, older], place, "fresh", nonce());
  expect(fresh.split(".").slice(0, 2)).toEqual(["v1", "k2"]);
  expect(unseal([newer, older], place, old)).toBe("old");
  expect(() => unseal([newer], place, old)).toThrow("the key k1 is not configured");
});

test("encrypting a text twice gives different results, and neither contains the text", () => {
  const one = seal([newer], place, "same", nonce());
  expect(one).not.toBe(seal([newer], place, "same", nonce()));
  expect(one).not.toContain("same");
});

test("any text can be encrypted and decrypted, and a change of any character of the encrypted text is detected", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(), (text, at) => {
      const sealed = seal([newer], place, text, nonce());
      expect(unseal([newer], place, sealed)).toBe(text);
      const [version, id, ...parts] = sealed.split(".");
      // Changes a whole byte, because the last base64 digit of a part contains unused bits.
      const bytes = parts.map((part) => Buffer.from(part, "base64url"));
      const part = bytes[at % bytes.length] ?? Buffer.alloc(0);
      if (part.length === 0) return;
      part[at % part.length] = (part[at % part.length] ?? 0) ^ 1;
      const changed = [version, id, ...bytes.map((each) => each.toString("base64url"))].join(".");
      expect(() => unseal([newer], place, changed)).toThrow(SealError);
    }),
  );
});

test.each(["", "v1", "v2.k1.a.b.c", "v1.k1.a.b.c", "plain"])(
  "the malformed encrypted text %j is refused",
  (sealed) => {
    expect(() => unseal([older], place, sealed)).toThrow(SealError);
  },
);
