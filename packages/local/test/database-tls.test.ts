import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@postrider/shared/config";
import { openSql } from "@postrider/shared/postgres";
import { readDatabaseUrl } from "@postrider/shared/postgres/tls";
import { selfSignedCertificate } from "@postrider/shared/testing/certificate";
import { afterAll, expect, test } from "vitest";
import { startEmbeddedPostgres } from "#src/postgres/embedded-postgres.ts";
import { unprivilegedUser } from "#src/processes/unprivileged-user.ts";

const own = selfSignedCertificate("localhost");
const other = selfSignedCertificate("localhost");

const folder = mkdtempSync(join(tmpdir(), "postrider-tls-test-"));
chmodSync(folder, 0o711);
const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  const user = unprivilegedUser(join(folder, "data"));
  if (user !== undefined) chownSync(path, user.uid, user.gid);
  return path;
};
const server = await startEmbeddedPostgres({
  dataDir: join(folder, "data"),
  settings: {
    ssl: "on",
    ssl_cert_file: file("server.crt", own.certificate),
    ssl_key_file: file("server.key", own.key),
  },
});
file("own.pem", own.certificate);
file("other.pem", other.certificate);

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Connects to Postgres with these URL parameters. Returns whether the connection is encrypted, or
 * the code of the error when the connection fails.
 */
async function connect(parameters: string, host = "localhost"): Promise<unknown> {
  const url = server.url.replace("127.0.0.1", host);
  const sql = openSql({ url: `${url}?${parameters}`, poolSize: 1, applicationName: "tls" });
  try {
    const [row] = await sql<{ ssl: boolean }[]>`
      select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.ssl;
  } catch (error) {
    return (error as { code?: unknown }).code;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test("a connection with verify-full accepts a Postgres server only if the certificate authority signed the server's certificate for its name", async () => {
  const own = `sslmode=verify-full&sslrootcert=${join(folder, "own.pem")}`;
  const other = `sslmode=verify-full&sslrootcert=${join(folder, "other.pem")}`;
  expect(await connect(own)).toBe(true);
  expect(await connect(own, "127.0.0.1")).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(await connect(other)).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
  expect(await connect("sslmode=verify-full")).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
  expect(await connect("sslmode=disable")).toBe(false);
});

test("a connection with sslmode=require verifies the server if the connection string names a certificate authority", async () => {
  expect(await connect("sslmode=require")).toBe(true);
  const other = `sslmode=require&sslrootcert=${join(folder, "other.pem")}`;
  expect(await connect(other)).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
});

test.each([
  ["postgres://a@db.test/p", "postgres://a@db.test/p?sslmode=verify-full"],
  ["postgres://a@db.test:6432/p?x=1", "postgres://a@db.test:6432/p?x=1&sslmode=verify-full"],
  ["postgres://a@db.test/p?sslmode=disable", "postgres://a@db.test/p?sslmode=disable"],
  ["postgres://a@localhost:5432/p", "postgres://a@localhost:5432/p"],
  ["postgres://a@127.0.0.1/p", "postgres://a@127.0.0.1/p"],
])(
  "in production verify-full is the default TLS mode for a Postgres server on another host: the connection string %s is read as %s",
  (url, expected) => {
    const read = (env: Readonly<Record<string, string>>) =>
      loadConfig(env, (reader) => ({ url: readDatabaseUrl(reader) })).url;
    expect(read({ DATABASE_URL: url })).toBe(expected);
    expect(read({ DATABASE_URL: url, POSTRIDER_ENV: "development" })).toBe(url);
  },
);

test.each(["require", "prefer", "allow", "verify-ca"])(
  "in production a connection string with sslmode=%s, a mode that does not verify the server's name, is refused",
  (mode) => {
    const env = { DATABASE_URL: `postgres://a@db.test/p?sslmode=${mode}` };
    const read = (more: Readonly<Record<string, string>>) => () =>
      loadConfig({ ...env, ...more }, (reader) => ({ url: readDatabaseUrl(reader) }));
    expect(read({})).toThrow(`DATABASE_URL has sslmode=${mode}, which does not verify`);
    expect(read({ POSTRIDER_ENV: "development" })).not.toThrow();
  },
);
