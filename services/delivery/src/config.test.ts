import { RPC_CALLERS } from "@postrider/contracts/rpc-callers";
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

test.each([
  ["all", "delivery"],
  ["publishing", "delivery"],
  ["webhooks", "delivery-webhooks"],
  ["engagement", "delivery-engagement"],
])("a process with ROLE=%s proves that it is %s", (role, name) => {
  expect(loadConfig({ ...ENV, ROLE: role }, readSettings).identity.name).toBe(name);
});

test("a process that does not publish starts without the key that signs media URLs, and forgets one that it is given", () => {
  const { MEDIA_KEY: _key, ...keyless } = ENV;
  for (const ROLE of ["webhooks", "engagement"])
    for (const env of [keyless, ENV])
      expect(loadConfig({ ...env, ROLE }, readSettings).media.mediaKey).toBeUndefined();
  for (const ROLE of ["all", "publishing"])
    expect(() => loadConfig({ ...keyless, ROLE }, readSettings)).toThrow("MEDIA_KEY is required");
});

function rpcsOf(name: string): readonly string[] {
  const allowed = Object.entries(RPC_CALLERS).filter(([, callers]) => callers.includes(name));
  return allowed.map(([rpc]) => rpc.replace(/^postrider\.\w+\.v1\./, ""));
}

test("a process that only sends webhooks can ask for the objects of events, and for no token", () => {
  expect(rpcsOf("delivery-webhooks")).toEqual([
    "AccountService/BatchGetAccounts",
    "MediaService/BatchGetMedia",
    "PostService/BatchGetPosts",
  ]);
});

test("a process that only works on comments and metrics can ask for accounts and their tokens, and for nothing of posts and media", () => {
  expect(rpcsOf("delivery-engagement")).toEqual([
    "AccountService/BatchGetAccounts",
    "AccountService/RequireReconnect",
    "CredentialService/BatchGetCredentials",
    "CredentialService/RefreshCredential",
  ]);
});
