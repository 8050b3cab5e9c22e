import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { afterAll, expect, test } from "vitest";
import { appendAudit } from "#src/audit/append.ts";
import { appendDeed } from "#src/audit/deeds.ts";
import { createAuditService } from "#src/audit/service.ts";
import { newId } from "#src/ids.ts";
import { runInContext } from "#src/telemetry/request-context.ts";
import { countPages } from "#src/testing/explain.ts";
import { createTestPeer } from "#src/testing/router.ts";
import { createAuditedDatabase } from "./audited-database.ts";

const database = await createAuditedDatabase();
afterAll(() => database[Symbol.asyncDispose]());

function openClient() {
  const service = createAuditService({ sql: database.sql });
  return createTestPeer((router) => router.service(AuditService, service)).client(AuditService);
}

async function list(request: Parameters<ReturnType<typeof openClient>["listAuditEntries"]>[0]) {
  const { entries } = await openClient().listAuditEntries({ limit: 100, ...request });
  return entries;
}

/** Runs `work` like an RPC of the gateway for a client with this API key. */
function asKey<T>(keyId: string, work: () => T): T {
  const origin = { keyId, address: "198.51.100.9" };
  const context = { requestId: "req", caller: "gateway", createdVia: "mcp", origin };
  return runInContext(context, work);
}

const deedOf = (workspaceId: string) =>
  ({ action: "post.create", subject: { type: "post", id: newId() }, workspaceId }) as const;

test("a session acts in the name of the API key that opened it, and in its own name if a link opened it", async () => {
  const [keyId, sessionId, workspaceId] = [newId(), newId(), newId()];
  for (const origin of [{ keyId, sessionId }, { sessionId }]) {
    const context = { requestId: "r", caller: "gateway", createdVia: "dashboard", origin };
    await runInContext(context, () => appendDeed(database.sql, deedOf(workspaceId)));
  }
  const actors = (await list({ workspaceId })).map(({ actor, via }) => [
    actor?.kind,
    actor?.id,
    via,
  ]);
  expect(actors).toEqual([
    ["key", keyId, "dashboard"],
    ["session", sessionId, "dashboard"],
  ]);
});

test("the list of what an API key did has its audit entries in order of time, with interface and address, and nothing of other keys", async () => {
  const [key, other, workspaceId] = [newId(), newId(), newId()];
  const webhook = { action: "webhook.create", subject: { type: "webhook", id: "w" } } as const;
  await asKey(key, () => appendDeed(database.sql, deedOf(workspaceId)));
  await asKey(other, () => appendDeed(database.sql, deedOf(workspaceId)));
  await asKey(key, () =>
    database.sql.begin((tx) => appendAudit(tx, [{ ...webhook, workspaceId }])),
  );
  await asKey(key, () =>
    appendDeed(database.sql, { ...deedOf(workspaceId), action: "post.delete" }),
  );
  const entries = await list({ actorId: key });
  expect(entries.map(({ action }) => action)).toEqual([
    "post.create",
    "webhook.create",
    "post.delete",
  ]);
  for (const entry of entries)
    expect(entry).toMatchObject({
      actor: { kind: "key", id: key },
      via: "mcp",
      requestId: "req",
      sourceAddress: "198.51.100.9",
      workspaceId,
    });
  const newest = await list({ actorId: key, newestFirst: true, limit: 2 });
  expect(newest.map(({ action }) => action)).toEqual(["post.delete", "webhook.create"]);
  expect(await list({ actorId: key, workspaceId: newId() })).toEqual([]);
});

test("an index finds the deeds of one API key among 100,000 deeds of others, and those of one workspace", async () => {
  const [key, workspaceId] = [newId(), newId()];
  await database.migrationSql`
    insert into audit_log_deeds (id, at, workspace_id, actor_kind, actor_id, action, subject_type, subject_id, details)
    select gen_random_uuid(), now() - n * interval '1 second', gen_random_uuid(), 'key', gen_random_uuid()::text,
      'post.create', 'post', 'p', '{}'
    from generate_series(1, 100000) as n`;
  await asKey(key, () => appendDeed(database.sql, deedOf(workspaceId)));
  await database.migrationSql`analyze audit_log_deeds`;
  const { sql } = database;
  for (const filter of [sql`actor_id = ${key}`, sql`workspace_id = ${workspaceId}`]) {
    const query = sql`
      select * from audit_log_deeds where ${filter} order by at desc, id desc limit 500`;
    expect(await countPages(sql, query)).toBeLessThan(20);
  }
  expect(await list({ actorId: key })).toHaveLength(1);
});

test("a process of a service can neither change nor delete deeds nor choose their time, and its job deletes only deeds that are over 90 days old", async () => {
  const key = newId();
  await asKey(key, () => appendDeed(database.sql, deedOf(newId())));
  const { sql, migrationSql } = database;
  for (const statement of [
    "delete from audit_log_deeds",
    "update audit_log_deeds set actor_id = 'x'",
    "truncate audit_log_deeds",
    "insert into audit_log_deeds (id, at) values (gen_random_uuid(), now())",
  ])
    await expect(sql.unsafe(statement)).rejects.toMatchObject({ code: "42501" });
  await migrationSql`
    insert into audit_log_deeds (id, at, actor_kind, actor_id, action, subject_type, subject_id, details)
    select gen_random_uuid(), now() - days * interval '1 day', 'key', ${key}, 'post.create', 'post', days::text, '{}'
    from unnest(${[91, 89, 100]}::int[]) as days`;
  const [row] = await sql`select delete_old_audit_entries(1000, 400) as deleted`;
  expect(row?.deleted).toBe(2);
  const left = await list({ actorId: key });
  expect(left.map(({ subjectId }) => subjectId)).toContain("89");
  expect(left).toHaveLength(2);
});

/** Adds deeds of an API key, one each second, from the beginning of the hour that ended last. */
async function addDeeds(deeds: {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly action: string;
  readonly count: number;
}) {
  const { workspaceId, keyId, action, count } = deeds;
  await database.migrationSql`
    insert into audit_log_deeds (
      id, at, workspace_id, actor_kind, actor_id, via, action, subject_type, subject_id, details, source_address
    )
    select gen_random_uuid(), date_trunc('hour', now() - interval '1 minute') - interval '1 hour' + n * interval '1 second', ${workspaceId},
      'key', ${keyId}, 'rest', ${action}, 'post', n::text, '{}', '192.0.2.' || n % 50
    from generate_series(1, ${count}) as n`;
}

test("of over 1,000 deeds of a workspace in an hour, those beyond are counted in one entry for each key and action, and a key with few deeds keeps all of them", async () => {
  const [busy, quiet, workspaceId, other] = [newId(), newId(), newId(), newId()];
  await addDeeds({ workspaceId, keyId: busy, action: "post.create", count: 3_000 });
  await addDeeds({ workspaceId, keyId: busy, action: "post.delete", count: 2_000 });
  await addDeeds({ workspaceId, keyId: quiet, action: "post.delete", count: 300 });
  await addDeeds({ workspaceId: other, keyId: newId(), action: "post.create", count: 1_000 });
  // Two processes run the job, each with pages, at the same time.
  const count = async () => {
    const [row] = await database.sql<[{ counted: number }]>`
      select count_excess_deeds(1500) as counted`;
    return row.counted;
  };
  const pages = await Promise.all([count(), count()]);
  for (let page = await count(); page > 0; page = await count()) pages.push(page);
  expect(pages.reduce((sum, page) => sum + page)).toBe(4_300);

  expect(await list({ actorId: quiet, limit: 1_000 })).toHaveLength(300);
  expect(await list({ workspaceId: other, limit: 1_000 })).toHaveLength(1_000);
  for (const [action, done] of [
    ["post.create", 3_000],
    ["post.delete", 2_000],
  ] as const) {
    const entries = await list({ actorId: busy, action, limit: 1_000 });
    const all = entries.map(({ details }) => JSON.parse(details) as { deeds?: number });
    expect(all.filter(({ deeds }) => deeds === undefined)).toHaveLength(350);
    expect(all.reduce((sum, { deeds = 1 }) => sum + deeds, 0)).toBe(done);
    expect(entries.at(-1)).toMatchObject({ subjectId: String(done), via: "rest", workspaceId });
    expect(all.at(-1)).toMatchObject({ deeds: expect.any(Number), since: expect.any(String) });
    expect(all.at(-1)).toHaveProperty("addresses.length", 20);
  }
});

test("deeds of the current hour are not counted together", async () => {
  const [keyId, workspaceId] = [newId(), newId()];
  await database.migrationSql`
    insert into audit_log_deeds (id, workspace_id, actor_kind, actor_id, action, subject_type, subject_id, details)
    select gen_random_uuid(), ${workspaceId}, 'key', ${keyId}, 'post.create', 'post', n::text, '{}'
    from generate_series(1, 1500) as n`;
  const [row] = await database.sql`select count_excess_deeds(10000) as counted`;
  expect(row?.counted).toBe(0);
});

test("of the entries with one action that clients of a workspace add in a day, the first 100 stay as long as those of operators and the others as long as deeds", async () => {
  const [keyId, workspaceId] = [newId(), newId()];
  const subject = { type: "webhook", id: "w" } as const;
  const change = async (action: "webhook.update" | "webhook.revoke", count: number) => {
    const entries = Array.from({ length: count }, () => ({ action, subject, workspaceId }));
    await database.sql.begin((tx) => appendAudit(tx, entries));
  };
  await asKey(keyId, () => change("webhook.update", 100));
  await asKey(keyId, () => change("webhook.update", 5));
  await asKey(keyId, () => change("webhook.revoke", 1));
  await change("webhook.update", 3);
  const countIn = async (table: string) => {
    const [row] = await database.sql<[{ count: number }]>`
      select count(*)::int from ${database.sql(table)} where workspace_id = ${workspaceId}`;
    return row.count;
  };
  expect(await countIn("audit_log")).toBe(104);
  expect(await countIn("audit_log_deeds")).toBe(5);
  expect(await list({ actorId: keyId, limit: 1_000 })).toHaveLength(106);
});
