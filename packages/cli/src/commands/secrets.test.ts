import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { secretCommands } from "./secrets.ts";

const OWNER_URL = "postgres://owner:s3cret@db.internal:5432/postrider?sslmode=verify-full";

afterEach(() => vi.unstubAllEnvs());

async function run(file: string): Promise<object | undefined> {
  vi.stubEnv("DATABASE_URL", OWNER_URL);
  const args = { positionals: [], values: { out: file } };
  return (await secretCommands[0]?.run({} as never, args, {} as never))?.json;
}

interface Secret {
  readonly metadata: { readonly name: string };
  readonly stringData: Readonly<Record<string, string>>;
}

function readSecrets(file: string): ReadonlyMap<string, Secret["stringData"]> {
  const documents = readFileSync(file, "utf8").split("---\n").slice(1);
  const secrets = documents.map((document) => JSON.parse(document) as Secret);
  return new Map(secrets.map(({ metadata, stringData }) => [metadata.name, stringData]));
}

test("`secrets create` writes connections whose passwords are those that it hands to `database provision`", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "postrider-secrets-")), "secrets.yaml");
  await run(file);
  const secrets = readSecrets(file);
  const roles = secrets.get("database-roles");

  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(roles?.DATABASE_URL).toBe(OWNER_URL);
  expect(secrets.get("posts-database")?.DATABASE_URL).toBe(
    `postgres://postrider_posts:${roles?.POSTS_DATABASE_PASSWORD}@db.internal:5432/postrider?sslmode=verify-full`,
  );
  expect(secrets.get("delivery-webhooks-database")?.DATABASE_URL).toBe(
    `postgres://postrider_delivery_webhooks:${roles?.DELIVERY_WEBHOOKS_DATABASE_PASSWORD}@db.internal:5432/postrider?sslmode=verify-full`,
  );
  expect(secrets.get("posts-migration-database")?.MIGRATION_DATABASE_URL).toBe(
    `postgres://postrider_posts_migration:${roles?.POSTS_MIGRATION_PASSWORD}@db.internal:5432/postrider?sslmode=verify-full`,
  );
});

test("`secrets create` never replaces a file, because its keys may be in use", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "postrider-secrets-")), "secrets.yaml");
  await run(file);
  const before = readFileSync(file, "utf8");

  await expect(run(file)).rejects.toThrow("exists and its keys may be in use");
  expect(readFileSync(file, "utf8")).toBe(before);
});
