import { createTestIdentities } from "@postrider/shared/testing/identities";
import { expect, test } from "vitest";
import { readConfig } from "#src/config.ts";

const SECRET = Buffer.alloc(32, 7).toString("base64");
const ENV = {
  ...createTestIdentities().env("accounts"),
  DATABASE_URL: "postgres://localhost/postrider",
  CREDENTIAL_KEYS: `k2:${SECRET},k1:${SECRET}`,
};

test("the setting CREDENTIAL_KEYS is read as a list with the newest encryption key first", () => {
  const keys = readConfig(ENV).credentialKeys;
  expect(keys.map(({ id, secret }) => [id, secret.export()])).toEqual([
    ["k2", Buffer.alloc(32, 7)],
    ["k1", Buffer.alloc(32, 7)],
  ]);
});

test("the accounts service rejects an empty CREDENTIAL_KEYS setting", () => {
  expect(() => readConfig({ ...ENV, CREDENTIAL_KEYS: "" })).toThrow("CREDENTIAL_KEYS is required");
});

test.each([
  ["k1:short", "must list <key id>:<base64 of 32 bytes>; entry 1 is invalid"],
  [`k1:${SECRET},${SECRET}`, "must list <key id>:<base64 of 32 bytes>; entry 2 is invalid"],
  [`k.1:${SECRET}`, "must list <key id>:<base64 of 32 bytes>; entry 1 is invalid"],
  [`k1:${SECRET},k1:${SECRET}`, "contains the same key id twice"],
])(
  "the setting CREDENTIAL_KEYS with the value %j is rejected, and the error message does not contain the secret key",
  (keys, message) => {
    const read = () => readConfig({ ...ENV, CREDENTIAL_KEYS: keys });
    expect(read).toThrow(`CREDENTIAL_KEYS ${message}`);
    expect(read).not.toThrow(SECRET);
  },
);

test("the setting PLATFORM_FEATURES lists known features only, and is empty by default", () => {
  expect(readConfig(ENV).platforms.features).toEqual([]);
  const features = (value: string) =>
    readConfig({ ...ENV, PLATFORM_FEATURES: value }).platforms.features;
  expect(features("metrics, comments")).toEqual(["comments", "metrics"]);
  expect(() => features("comments,insights")).toThrow(
    "PLATFORM_FEATURES contains insights, which is not one of comments, messages, metrics",
  );
});
