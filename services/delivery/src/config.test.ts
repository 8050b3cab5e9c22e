import { loadConfig } from "@postrider/shared/config";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { expect, test } from "vitest";
import { readSettings } from "#src/config.ts";

const KEY = "k1:" + Buffer.alloc(32, 7).toString("base64");
const ENV = {
  ...createTestIdentities().env("delivery"),
  POSTRIDER_ENV: "development",
  DATABASE_URL: "postgres://postrider_delivery:password@127.0.0.1:5432/postgres",
  MEDIA_KEY: "m".repeat(32),
  HANDLE_KEYS: KEY,
};

test("by default, another process takes over the work of a crashed delivery process after 20 s", () => {
  expect(loadConfig(ENV, readSettings).publishing.leaseMs).toBe(20_000);
});
