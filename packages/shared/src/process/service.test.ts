import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { ConfigError, loadConfig } from "#src/config.ts";
import { readPublicUrl } from "#src/config/addresses.ts";
import { createTestIdentities } from "#src/testing/identities.ts";
import { readProcessConfig } from "./service.ts";

const { IDENTITY_KEYS = "" } = createTestIdentities().env("gateway");
const key = () => randomBytes(32).toString("base64url");
const SAFE = { IDENTITY_KEYS, PUBLIC_URL: "https://postrider.test" };

/**
 * Reads the settings of a sample process, and returns the errors because of which it would not
 * start.
 */
function faultsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  try {
    loadConfig({ ...SAFE, ...env }, (read) => ({
      ...readProcessConfig(read, "sample", 8080),
      publicUrl: readPublicUrl(read),
      store: read.about("Address of the store.").url("S3_PUBLIC_ENDPOINT", ""),
      platform: read.about("Address of X.").url("X_BASE_URL", "https://api.x.com"),
      mediaKeys: read.secret("Signs.").optionalString("MEDIA_KEY"),
      sealing: read.secret("Encrypts.").optionalString("CREDENTIAL_KEYS"),
      app: read.secret("Secret of an app.").optionalString("X_CLIENT_SECRET"),
      database: read.secret("Database.").optionalString("DATABASE_URL"),
      migrations: read.secret("Database.").optionalString("MIGRATION_DATABASE_URL"),
    }));
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

test.each(["OUTBOUND_ALLOW", "SIMULATOR_URL", "FAILPOINTS_DIR"])(
  "a process in production mode refuses to start with the setting %s, even if the process does not use it",
  (name) => {
    const env = { [name]: "10.0.0.1:80" };
    expect(faultsOf({ ...env, POSTRIDER_ENV: "production" })).toEqual([
      `${name} must not be set with POSTRIDER_ENV=production`,
    ]);
    expect(faultsOf({ ...env, POSTRIDER_ENV: "development" })).toEqual([]);
    expect(faultsOf({ [name]: "", POSTRIDER_ENV: "production" })).toEqual([]);
  },
);

test("a process without the setting POSTRIDER_ENV runs in production mode", () => {
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ SIMULATOR_URL: "http://127.0.0.1:1" })).toHaveLength(1);
});

test.each([
  { PUBLIC_URL: "http://postrider.test" },
  { PUBLIC_URL: undefined, X_BASE_URL: "https://api.x.com" },
  { X_BASE_URL: "http://simulator:4100/x" },
  { S3_PUBLIC_ENDPOINT: "http://media.example.org" },
])(
  "a process in production refuses plain http in its public address and in those of platforms and uploads: %j",
  (env) => {
    expect(faultsOf(env)).toEqual([
      expect.stringMatching(/^(S3_PUBLIC_ENDPOINT|PUBLIC_URL|X_BASE_URL) .*must begin with https:/),
    ]);
    expect(faultsOf({ ...env, POSTRIDER_ENV: "development" })).toEqual([]);
  },
);

test("a process in production may send uploads to an object store of its own machine without TLS, or to no address of its own", () => {
  expect(faultsOf({ S3_PUBLIC_ENDPOINT: "http://127.0.0.1:7070" })).toEqual([]);
  expect(faultsOf({})).toEqual([]);
});

test("a process in production says that its public address is missing, and not only that the default is plain http", () => {
  expect(faultsOf({ PUBLIC_URL: undefined })).toEqual([
    "PUBLIC_URL is required and must begin with https:// with POSTRIDER_ENV=production",
  ]);
});

const LOCAL_ONLY = Buffer.from("local-only-and-known-to-everyone").toString("base64");

test.each([
  ["MEDIA_KEY", "local-only-known-to-everyone-media-key", "published"],
  ["MEDIA_KEY", `${key()},local-only-known-to-everyone-media-key`, "published"],
  ["MEDIA_KEY", "k".repeat(32), "easy to guess"],
  ["MEDIA_KEY", "0123456789abcdef0123456789abcdef", "easy to guess"],
  ["MEDIA_KEY", "a sentence of several words is long enough", "easy to guess"],
  ["IDENTITY_KEYS", Buffer.from(LOCAL_ONLY, "base64").toString("base64url"), "published"],
  ["CREDENTIAL_KEYS", `k1:${LOCAL_ONLY}`, "published"],
  ["CREDENTIAL_KEYS", `k1:${Buffer.alloc(32, 1).toString("base64")}`, "easy to guess"],
  [
    "CREDENTIAL_KEYS",
    `k1:${Buffer.from("x7Kp2mQ9vR4tZ8wB3nL6jH5gF1dS0aYc").toString("base64")}`,
    "easy to guess",
  ],
  ["X_CLIENT_SECRET", "local-only", "published"],
  ["DATABASE_URL", "postgres://postrider_posts:local-only-posts@db.test/postrider", "published"],
  ["DATABASE_URL", "postgres://postrider_posts:hunter2@db.test/postrider", "easy to guess"],
  ["DATABASE_URL", "postgres://postrider_posts:hunter2@a.test,b.test:5432/app", "easy to guess"],
  ["MIGRATION_DATABASE_URL", "postgres://posts_migration:hunter2@db.test/app", "easy to guess"],
])(
  "a process in production refuses a secret that others know or can guess: %s=%s is %s",
  (name, value, why) => {
    const faults = faultsOf({ [name]: value });
    expect(faults).toEqual([expect.stringContaining(`${name} is `)]);
    expect(faults[0]).toContain(why);
    expect(faults[0]).not.toContain(value);
    expect(faultsOf({ [name]: value, POSTRIDER_ENV: "development" })).toEqual([]);
  },
);

test.each([
  ["MEDIA_KEY", () => key()],
  ["MEDIA_KEY", () => randomBytes(32).toString("base64")],
  ["MEDIA_KEY", () => randomBytes(32).toString("hex")],
  ["CREDENTIAL_KEYS", () => `k1:${randomBytes(32).toString("base64")}`],
  ["X_CLIENT_SECRET", () => "abc123"],
  ["DATABASE_URL", () => "postgres://postrider_posts@db.test/postrider"],
  [
    "DATABASE_URL",
    () => `postgres://a:${randomBytes(12).toString("base64url")}@a.test:5432,b.test/postrider`,
  ],
  ["DATABASE_URL", () => `postgres://a:${randomBytes(12).toString("base64url")}@db.test/b`],
])(
  "a process in production accepts secrets in %s that are random or that a platform has issued",
  (name, make) => {
    for (let round = 0; round < 200; round += 1) expect(faultsOf({ [name]: make() })).toEqual([]);
  },
);
