import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  apiKeyPrefix,
  CELL_NAME,
  formatApiKey,
  hashApiKey,
  isApiKey,
  isCredential,
  parseApiKey,
} from "./api-keys.ts";

const ZEROS = formatApiKey(new Uint8Array(32));
const OF_EU1 = formatApiKey(new Uint8Array(32), "key", "eu1");
const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });
const cells = fc.stringMatching(new RegExp(`^${CELL_NAME}$`));

test("an API key consists of the prefix, 43 base62 characters of the secret and 6 characters of the checksum", () => {
  expect(ZEROS).toBe(`pr_live_${"0".repeat(43)}2TZDF5`);
  expect(formatApiKey(new Uint8Array(32).fill(255)).slice(8, 51)).toBe(
    "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1",
  );
  expect(apiKeyPrefix(ZEROS)).toBe("pr_live_0000");
  expect(() => formatApiKey(new Uint8Array(31))).toThrow(RangeError);
});

test("every generated API key is valid", () => {
  fc.assert(
    fc.property(secrets, (secret) => {
      const key = formatApiKey(secret);
      expect(key).toMatch(/^pr_live_[0-9A-Za-z]{49}$/);
      expect(isApiKey(key)).toBe(true);
    }),
  );
});

test("the token of a session has a prefix of its own, so that neither it nor an API key is accepted as the other", () => {
  const token = formatApiKey(new Uint8Array(32), "session");
  expect(token).toMatch(/^pr_session_0{43}[0-9A-Za-z]{6}$/);
  expect([isApiKey(token, "session"), isApiKey(token)]).toEqual([true, false]);
  expect(isApiKey(ZEROS, "session")).toBe(false);
  expect([token, ZEROS, `${token}0`].map(isCredential)).toEqual([true, true, false]);
});

test("an API key of a cell names the cell between its prefix and its secret, and its checksum covers the cell", () => {
  expect(OF_EU1).toMatch(/^pr_live_eu1_0{43}[0-9A-Za-z]{6}$/);
  expect(OF_EU1.slice(-6)).not.toBe(ZEROS.slice(-6));
  expect(apiKeyPrefix(OF_EU1)).toBe("pr_live_eu1_0000");
  expect(isApiKey(OF_EU1.replace("eu1", "us1"))).toBe(false);
  expect(isApiKey(ZEROS.replace("pr_live_", "pr_live_eu1_"))).toBe(false);
  expect(isApiKey(OF_EU1.replace("pr_live_eu1_", "pr_live_"))).toBe(false);
});

test("parseApiKey returns the cell of every API key, and none for a key without a cell", () => {
  fc.assert(
    fc.property(secrets, cells, (secret, cell) => {
      expect(parseApiKey(formatApiKey(secret, "key", cell))).toEqual({ cell });
    }),
  );
  expect(parseApiKey(ZEROS)).toEqual({ cell: undefined });
  expect(parseApiKey(`${ZEROS}0`)).toBeUndefined();
});

test.each(["EU1", "", "ninechars", "eu-1", "e_1"])(
  "no API key has the cell %j, whose name is not allowed",
  (cell) => {
    expect(() => formatApiKey(new Uint8Array(32), "key", cell)).toThrow(RangeError);
    expect(parseApiKey(OF_EU1.replace("eu1", cell))).toBeUndefined();
  },
);

test("different secrets result in different API keys", () => {
  fc.assert(
    fc.property(secrets, secrets, (one, other) => {
      expect(formatApiKey(one) === formatApiKey(other)).toBe(
        Buffer.from(one).equals(Buffer.from(other)),
      );
    }),
  );
});

test("an API key with one changed character is invalid", () => {
  fc.assert(
    fc.property(
      secrets,
      fc.option(cells, { nil: undefined }),
      fc.integer({ min: 0, max: 56 }),
      fc.constantFrom("0", "9", "a", "z", "A", "Z", "-", "_", " "),
      (secret, cell, at, character) => {
        const key = formatApiKey(secret, "key", cell);
        const changed = key.slice(0, at) + character + key.slice(at + 1);
        expect(isApiKey(changed)).toBe(changed === key);
      },
    ),
  );
});

test.each(["", "pr_live_", ZEROS.slice(0, -1), `${ZEROS}0`, ` ${ZEROS}`, `${ZEROS}\n`])(
  "isApiKey rejects %j",
  (text) => {
    expect(isApiKey(text)).toBe(false);
  },
);

test("the stored form of an API key is its SHA-256 hash", () => {
  expect(hashApiKey(ZEROS)).toEqual(createHash("sha256").update(ZEROS).digest());
});
