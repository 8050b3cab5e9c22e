import { createSecretKey, randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { seal, SealError, unseal, type SealingKey } from "./sealing.ts";

const place = { table: "credentials", rowId: "row-1", column: "access_token" };
const older: SealingKey = { id: "k1", secret: createSecretKey(randomBytes(32)) };
const newer: SealingKey = { id: "k2", secret: createSecretKey(randomBytes(32)) };
const nonce = () => randomBytes(12);

test("an encrypted (sealed) text can be decrypted only for the table, row and column that it was encrypted for", () => {
  const sealed = seal([newer], place, "secret token", nonce());
  expect(unseal([newer], place, sealed)).toBe("secret token");
  for (const other of [
    { ...place, rowId: "row-2" },
    { ...place, column: "refresh_token" },
    { ...place, table: "links" },
  ])
    expect(() => unseal([newer], other, sealed)).toThrow(SealError);
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
      // Changes a whole byte of the encrypted text, not a base64 character: the last character of
      // each part contains bits that decoding ignores.
      const bytes = parts.map((part) => Buffer.from(part, "base64url"));
      const part = bytes[at % bytes.length] ?? Buffer.alloc(0);
      if (part.length === 0) return;
      part[at % part.length] = (part[at % part.length] ?? 0) ^ 1;
      const changed = [version, id, ...bytes.map((each) => each.toString("base64url"))].join(".");
      expect(() => unseal([newer], place, changed)).toThrow(SealError);
    }),
  );
});

const bound = {
  ...place,
  boundTo: { workspace_id: "w1", "attributes.pdsUrl": "https://a.example" },
};

test("a text that was encrypted with values to bind to can be decrypted only with the same values", () => {
  const sealed = seal([newer], bound, "secret token", nonce());
  const { workspace_id: workspaceId, ...attributes } = bound.boundTo;
  const inOtherOrder = { ...attributes, workspace_id: workspaceId };
  expect(unseal([newer], { ...place, boundTo: inOtherOrder }, sealed)).toBe("secret token");
  for (const boundTo of [
    {},
    attributes,
    { ...bound.boundTo, workspace_id: "w2" },
    { ...bound.boundTo, "attributes.pdsUrl": "https://b.example" },
    { ...bound.boundTo, "attributes.more": "" },
  ])
    expect(() => unseal([newer], { ...place, boundTo }, sealed)).toThrow(SealError);
  for (const other of [{ rowId: "row-2" }, { column: "refresh_token" }, { table: "links" }])
    expect(() => unseal([newer], { ...bound, ...other }, sealed)).toThrow(SealError);
});

test("a text that was encrypted with a list of values to bind to cannot be decrypted with any other list, whatever characters the values contain", () => {
  const values = fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 3 }), {
    maxKeys: 3,
    noNullPrototype: true,
  });
  const canOpen = (one: Record<string, string>, other: Record<string, string>): boolean => {
    const sealed = seal([newer], { ...place, boundTo: one }, "text", nonce());
    try {
      return unseal([newer], { ...place, boundTo: other }, sealed) === "text";
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(values, values, (one, other) => {
      expect(canOpen(one, other)).toBe(isDeepStrictEqual(one, other));
    }),
  );
  const similar = [{ a: "b", c: "d" }, { a: "b|c|d" }, { "a|b": "c|d" }, { ab: "", c: "d" }, {}];
  const opened = similar.map((one) => similar.filter((other) => canOpen(one, other)));
  expect(opened).toEqual(similar.map((each) => [each]));
});

test("an encrypted text bound to values is refused where an unbound one is expected, and the other way round", () => {
  const unboundText = seal([newer], place, "text", nonce());
  const boundText = seal([newer], bound, "text", nonce());
  expect(() => unseal([newer], bound, unboundText)).toThrow("not bound");
  expect(() => unseal([newer], place, boundText)).toThrow("bound");
  const relabelled = boundText.replace("+bound", "");
  expect(() => unseal([newer], place, relabelled)).toThrow(SealError);
});

test("decryption fails when a value to which a text is bound is not a string, even if it prints as the same text", () => {
  const sealed = seal([newer], { ...place, boundTo: { port: "1" } }, "text", nonce());
  const boundTo = { port: 1 } as unknown as Record<string, string>;
  expect(() => unseal([newer], { ...place, boundTo }, sealed)).toThrow(SealError);
});

test.each(["", "v1", "v2.k1.a.b.c", "v1.k1.a.b.c", "plain"])(
  "the malformed encrypted text %j is refused",
  (sealed) => {
    expect(() => unseal([older], place, sealed)).toThrow(SealError);
  },
);
