import { rmSync } from "node:fs";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@postrider/local/postgres/embedded-postgres";
import { findStablePort } from "@postrider/local/processes/free-port";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { afterAll, expect, test } from "vitest";
import { openDatabase } from "#src/serve.ts";

const folder = makeTestFolder("serve-database");

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Of its own, because roles and their passwords belong to a whole server.
test("serve waits for a Postgres that does not answer yet, and two that migrate it at once both succeed", async () => {
  const port = await findStablePort();
  const { promise: waited, resolve } = Promise.withResolvers<string>();
  const options = {
    url: `postgres://postgres:postrider@127.0.0.1:${port}/postgres`,
    secretsFile: join(folder, "secrets.json"),
    newSecrets: false,
    onWait: resolve,
    signal: AbortSignal.timeout(25_000),
  };
  const [one, other] = [openDatabase(options), openDatabase(options)];
  expect(await waited).toContain("ECONNREFUSED");
  await using _postgres = await startEmbeddedPostgres({ dataDir: join(folder, "data"), port });
  expect(await one).toEqual(await other);
});
