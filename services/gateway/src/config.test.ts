import { randomBytes } from "node:crypto";
import { loadConfig } from "@postrider/shared/config";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { expect, test } from "vitest";
import { readSettings } from "#src/config.ts";

const ENV = { ...createTestIdentities().env("gateway"), MEDIA_KEY: "m".repeat(32) };
const read = (env: Record<string, string>) => loadConfig({ ...ENV, ...env }, readSettings);

test.each([
  "10.0.0.1",
  "10.0.0.0/8",
  "2001:db8::/32",
  "::1/128",
  "loopback, uniquelocal",
  "linklocal",
])("TRUSTED_PROXIES accepts %s", (value) => {
  const { trustedProxies } = read({ TRUSTED_PROXIES: value });
  expect(trustedProxies).toEqual(value.split(", "));
});

test.each(["true", "*", "proxy.internal", "10.0.0.0/33", "0.0.0.0/0", "10.0.0.0/8/8", "::/129"])(
  "TRUSTED_PROXIES refuses %s, because it is invalid or would trust any client",
  (value) => {
    expect(() => read({ TRUSTED_PROXIES: value })).toThrow(
      `TRUSTED_PROXIES has an entry that is neither an address nor a network: ${value}`,
    );
  },
);

test("every phase of receiving an HTTP request has a time limit", () => {
  expect(read({}).patience).toEqual({
    headersMs: 15_000,
    requestMs: 30_000,
  });
});

test("in production, a process does not start that would send RPCs about engagement without TLS to another machine", () => {
  const urls = ["ACCOUNTS", "POSTS", "MEDIA_SERVICE", "DELIVERY"].map((name) => `${name}_URL`);
  const env = {
    PUBLIC_URL: "https://api.example.org",
    ...Object.fromEntries(urls.map((name) => [name, "https://peer:8081"])),
    MEDIA_KEY: randomBytes(32).toString("base64url"),
    POSTRIDER_ENV: "production",
  };
  expect(() => read(env)).not.toThrow();
  expect(() => read({ ...env, ENGAGEMENT_URL: "http://delivery-engagement:8084" })).toThrow(
    "ENGAGEMENT_URL must begin with https://",
  );
});

test("requests about engagement go to the address of the delivery service unless ENGAGEMENT_URL names another one", () => {
  const DELIVERY_URL = "http://delivery:8084";
  expect(read({ DELIVERY_URL }).engagementUrl).toBe(DELIVERY_URL);
  const ENGAGEMENT_URL = "http://delivery-engagement:8084";
  expect(read({ DELIVERY_URL, ENGAGEMENT_URL })).toMatchObject({
    deliveryUrl: DELIVERY_URL,
    engagementUrl: ENGAGEMENT_URL,
  });
});
