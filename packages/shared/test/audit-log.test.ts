import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { afterAll, expect, test } from "vitest";
import { appendAudit, type AuditEntry } from "#src/audit/append.ts";
import { auditCleanings } from "#src/audit/retention.ts";
import { createAuditService } from "#src/audit/service.ts";
import { newId } from "#src/ids.ts";
import { startCleaningRows } from "#src/postgres/clean-rows.ts";
import { together } from "#src/process/lifecycle.ts";
import { createLogger } from "#src/telemetry/logger.ts";
import { runInContext } from "#src/telemetry/request-context.ts";
import { asClient, asOperator, BY_CLIENT, BY_OPERATOR, readAuditLog } from "#src/testing/audit.ts";
import { eventually } from "#src/testing/poll.ts";
import { createTestPeer } from "#src/testing/router.ts";
import { createAuditedDatabase, INCLUDE_AUDIT_LOG } from "./audited-database.ts";

const database = await createAuditedDatabase();
afterAll(() => database[Symbol.asyncDispose]());

function entryOf(workspaceId: string, action: AuditEntry["action"] = "key.create"): AuditEntry {
  return { action, subject: { type: "key", id: newId() }, workspaceId, details: { name: "CI" } };
}

const append = async (...entries: readonly AuditEntry[]) =>
  await database.sql.begin((tx) => appendAudit(tx, entries));

async function list(request: Parameters<ReturnType<typeof openClient>["listAuditEntries"]>[0]) {
  const { entries } = await openClient().listAuditEntries({ limit: 100, ...request });
  return entries;
}

function openClient() {
  const service = createAuditService({ sql: database.sql });
  return createTestPeer((router) => router.service(AuditService, service)).client(AuditService);
}

test("an audit entry names the API key, the operator, the calling service or, without a request, the service itself as its actor", async () => {
  const workspaceId = newId();
  const entry = entryOf(workspaceId);
  await asClient(() => append(entry));
  await asOperator(() => append(entry));
  const context = { requestId: "req-3", caller: "delivery", origin: { address: "192.0.2.8" } };
  await runInContext(context, () => append(entry));
  await append(entry);
  await asClient(() => append({ ...entry, actor: { kind: "connect_link", id: "link" } }));
  const change = {
    action: "key.create",
    workspaceId,
    subject: ["key", entry.subject.id],
    details: { name: "CI" },
  };
  expect(await readAuditLog(database.sql)).toEqual([
    { ...change, ...BY_CLIENT },
    { ...change, ...BY_OPERATOR },
    {
      ...change,
      actor: ["service", "delivery", null],
      requestId: "req-3",
      sourceAddress: "192.0.2.8",
    },
    { ...change, actor: ["service", "sample", null], requestId: null, sourceAddress: null },
    { ...change, ...BY_CLIENT, actor: ["connect_link", "link", null] },
  ]);
});

test("an audit entry of a transaction that rolls back does not exist", async () => {
  const workspaceId = newId();
  const work = database.sql.begin(async (tx) => {
    await appendAudit(tx, [entryOf(workspaceId)]);
    throw new Error("the change fails");
  });
  await expect(work).rejects.toThrow("the change fails");
  expect(await list({ workspaceId })).toEqual([]);
});

test.each([
  ["update", "update audit_log set action = 'key.revoke'"],
  ["delete", "delete from audit_log"],
  ["truncate", "truncate audit_log"],
  ["truncate", "truncate audit_log cascade"],
])("Postgres refuses to %s entries of the audit log: %s", async (_, statement) => {
  await append(entryOf(newId()));
  const before = await readAuditLog(database.sql);
  const text = statement.replace("audit_log", "sample.audit_log");
  await expect(database.ownerSql.unsafe(text)).rejects.toThrow("the audit log is append-only");
  // With the rights of the service's role, Postgres may name the missing right as the reason,
  // instead of the rule that the audit log is append-only.
  await expect(database.sql.unsafe(text)).rejects.toThrow(/append-only|permission denied/);
  expect(await readAuditLog(database.sql)).toEqual(before);
});

test("the audit log of a workspace does not contain entries of other workspaces", async () => {
  const [one, other] = [newId(), newId()];
  await append(entryOf(one), entryOf(other), { ...entryOf(one), workspaceId: undefined });
  const entries = await list({ workspaceId: one });
  expect(entries.map(({ workspaceId }) => workspaceId)).toEqual([one]);
});

test("pages of the audit log contain each matching entry once, oldest first and newest first, also when entries have the same time", async () => {
  const workspaceId = newId();
  // All audit entries that one statement appends get the same time. So this test also checks the
  // pages between which entries with the same time are divided.
  const entries = Array.from({ length: 60 }, (_, index) =>
    entryOf(workspaceId, index % 2 === 0 ? "key.create" : "key.revoke"),
  );
  await append(...entries.slice(0, 30));
  await append(...entries.slice(30));
  const wanted = entries
    .filter(({ action }) => action === "key.revoke")
    .map(({ subject }) => subject.id);
  for (const newestFirst of [false, true]) {
    const found: string[] = [];
    for (let after: Awaited<ReturnType<typeof list>>[number] | undefined; ;) {
      const position = after?.at === undefined ? {} : { after: { at: after.at, id: after.id } };
      const filter = { workspaceId, action: "key.revoke", newestFirst, limit: 7 };
      const page = await list({ ...filter, ...position });
      found.push(...page.map(({ subjectId }) => subjectId));
      after = page.at(-1);
      if (page.length < 7) break;
    }
    expect(found).toEqual(newestFirst ? wanted.toReversed() : wanted);
  }
});

test("the audit log is filtered by a half-open period: from `since`, before `before`", async () => {
  const workspaceId = newId();
  await append(entryOf(workspaceId));
  const [entry] = await list({ workspaceId });
  const at = entry?.at;
  if (at === undefined) throw new Error("the entry has no time");
  expect(await list({ workspaceId, since: at })).toHaveLength(1);
  expect(await list({ workspaceId, before: at })).toHaveLength(0);
  const later = { ...at, nanos: at.nanos + 1_000_000 };
  expect(await list({ workspaceId, since: later })).toHaveLength(0);
  expect(await list({ workspaceId, before: later })).toHaveLength(1);
});

test.each([
  ["a malformed workspace id", { workspaceId: "mine" }, "/workspaceId"],
  ["an unknown action", { action: "key.steal" }, "/action"],
  ["a limit of 0", { limit: 0 }, "/limit"],
  ["a limit above 1,000", { limit: 1_001 }, "/limit"],
  ["a position without a time", { after: { id: newId() } }, "/after"],
  ["a time that no clock shows", { since: { seconds: BigInt(9e15) } }, "/since"],
])("the audit log refuses a request with %s", async (_, request, path) => {
  await expect(list(request)).rejects.toMatchObject({ violations: [{ path }] });
});

test("an index in the order of time serves each filter of the audit log, so that no page has to be sorted", async () => {
  const filters = ["true", `workspace_id = '${newId()}'`, "action = 'key.create'"];
  for (const filter of filters) {
    const plan = await database.sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`;
      await tx`set local enable_bitmapscan = off`;
      return await tx.unsafe(
        `explain select * from audit_log where ${filter} and (at, id) > (now(), '${newId()}') order by at, id limit 500`,
      );
    });
    const text = plan.map((row) => String(row.QUERYPLAN ?? Object.values(row)[0])).join("\n");
    expect(text).toMatch(/Index Scan/);
    expect(text).not.toMatch(/Sort/);
  }
});

test("all services define the audit log in the same way", () => {
  const services = join(import.meta.dirname, "../../../services");
  const files = globSync("*/migrations/0001_*.sql", { cwd: services });
  expect(files).toHaveLength(4);
  for (const file of files)
    expect(readFileSync(join(services, file), "utf8")).toContain(`\n${INCLUDE_AUDIT_LOG}`);
});

test("the runtime role cannot choose the time of an audit entry, for example a future time, behind which later entries would be hidden", async () => {
  const workspaceId = newId();
  await expect(
    database.sql`
      insert into audit_log (id, at, workspace_id, actor_kind, actor_id, action, subject_type, subject_id, details)
      values (${newId()}, 'infinity', ${workspaceId}, 'service', 'sample', 'key.create', 'key', 'forged', '{}')`,
  ).rejects.toMatchObject({ code: "42501" });
  await append(entryOf(workspaceId));
  expect(await list({ workspaceId, newestFirst: true })).toHaveLength(1);
});

/** Adds entries that are as many days old, and returns the ages of those that are left of them. */
async function addOld(ages: readonly number[]) {
  const workspaceId = newId();
  await database.ownerSql`
    insert into sample.audit_log (id, at, workspace_id, actor_kind, actor_id, action, subject_type, subject_id, details)
    select gen_random_uuid(), now() - days * interval '1 day', ${workspaceId}, 'key', 'k', 'key.create', 'key', days::text, '{}'
    from unnest(${[...ages]}::int[]) as days`;
  return async () => (await list({ workspaceId })).map(({ subjectId }) => Number(subjectId));
}

test("the job that cleans the audit log deletes page by page the entries that are older than the setting, and no others", async () => {
  const left = await addOld([...Array.from({ length: 2_500 }, () => 401), 399, 1]);
  const logger = createLogger({ service: "sample", level: "silent" });
  await using _job = together(startCleaningRows(database.sql, logger, auditCleanings(400)));
  await eventually(async () => expect(await left()).toEqual([399, 1]));
});

test("a process cannot delete entries of the audit log of the last 90 days, whatever it asks for, and neither can the owner of the table", async () => {
  const left = await addOld([91, 89]);
  await database.sql`select delete_old_audit_entries(1000, 0)`;
  expect(await left()).toEqual([89]);
  await expect(
    database.ownerSql`delete from sample.audit_log where subject_id = '89'`,
  ).rejects.toThrow("the audit log is append-only");
});
