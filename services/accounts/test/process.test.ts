import { newId } from "@postrider/shared/ids";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { startApp } from "#src/app.ts";
import { readConfig } from "#src/config.ts";
import { createApp, createDatabase, createSimulator } from "./accounts-app.ts";

function configFor(databaseUrl: string) {
  return readConfig({
    PORT: "0",
    METRICS_PORT: "0",
    BUS: "postgres",
    LOG_LEVEL: "silent",
    DATABASE_URL: databaseUrl,
    ...createTestIdentities().env("accounts"),
    CREDENTIAL_KEYS: `other:${Buffer.alloc(32, 1).toString("base64")}`,
  });
}

test("the accounts service publishes the events in its outbox, and closes all database connections when it stops", async () => {
  await using database = await createDatabase(2);
  const { sql, ownerSql } = database;
  const app = await startApp(configFor(database.url));
  await sql`
    insert into outbox (event_id, type, key, payload, headers)
    values (${newId()}, 'postrider.accounts.v1.AccountConnected', 'a1', '{"accountId":"a1"}', '{}')`;
  const [record] = await eventually(async () => {
    const rows = await sql`select topic, key from bus.records`;
    return rows.length > 0 && rows;
  });
  expect(record).toEqual({ topic: "accounts.events.v1", key: "a1" });
  await app[Symbol.asyncDispose]();
  await eventually(async () => {
    const open = await ownerSql`
      select pid from pg_stat_activity
      where datname = current_database() and application_name = 'accounts'`;
    expect(open).toEqual([]);
  });
});

test("the accounts service does not start without an encryption key that stored tokens need, and reports the id of the missing key", async () => {
  await using database = await createDatabase(4);
  await using simulator = await createSimulator();
  await using app = createApp(database, { simulatorUrl: simulator.url });
  const { workspace } = await app.workspaces.createWorkspace({ name: "Test" });
  const workspaceId = workspace?.id ?? "";
  await app.accounts.connectSimulatedAccounts({ workspaceId, platform: "telegram", count: 1 });
  await expect(startApp(configFor(database.url))).rejects.toThrow("missing in CREDENTIAL_KEYS: k1");
});
