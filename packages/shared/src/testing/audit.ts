import type { Sql } from "#src/postgres.ts";
import { runInContext } from "#src/telemetry/request-context.ts";
import type { TestDatabase } from "#src/testing/database.ts";

const KEY_ID = "01936a5e-7d2b-7000-8000-0000000000f1";

export const BY_OPERATOR = {
  actor: ["operator", "operator", "ana@laptop"],
  requestId: "req-operator",
  sourceAddress: "192.0.2.7",
} as const;

export const BY_CLIENT = {
  actor: ["key", KEY_ID, null],
  requestId: "req-client",
  sourceAddress: "198.51.100.9",
} as const;

export function asOperator<T>(work: () => T): T {
  const origin = { person: "ana@laptop", address: BY_OPERATOR.sourceAddress };
  return runInContext({ requestId: BY_OPERATOR.requestId, caller: "operator", origin }, work);
}

export function asClient<T>(work: () => T): T {
  const origin = { keyId: KEY_ID, address: BY_CLIENT.sourceAddress };
  return runInContext({ requestId: BY_CLIENT.requestId, caller: "gateway", origin }, work);
}

export async function readAuditLog(sql: Sql) {
  const rows = await sql`
    select action, workspace_id, subject_type, subject_id, details, actor_kind, actor_id, actor_name,
      request_id, source_address
    from audit_log
    order by at, id`;
  return rows.map((row) => ({
    action: row.action as string,
    workspaceId: row.workspaceId as string | null,
    subject: [row.subjectType, row.subjectId],
    details: row.details as unknown,
    actor: [row.actorKind, row.actorId, row.actorName],
    requestId: row.requestId as string | null,
    sourceAddress: row.sourceAddress as string | null,
  }));
}

async function dumpTables(sql: Sql, tables: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    tables.map(async (table) => {
      const rows = await sql`select to_jsonb(t)::text as row from ${sql(table)} t order by 1`;
      return rows.map(({ row }) => String(row)).join("\n");
    }),
  );
  return texts.join("\n\n");
}

async function isRefused(change: () => Promise<unknown>): Promise<boolean> {
  return await change().then(
    () => false,
    () => true,
  );
}

/**
 * Runs a change three times: first while Postgres refuses entries of the audit log, then with a
 * failure at the commit of the change, and then without a failure. Returns the entries that the
 * last run has appended.
 *
 * @param tables The tables that the change writes.
 * @throws When one of the first two runs succeeds, changes a table or leaves an entry.
 */
export async function runAudited(
  { sql, ownerSql }: TestDatabase,
  tables: readonly string[],
  change: () => Promise<unknown>,
) {
  const [place] = await sql`select current_schema() as schema`;
  const schema = String(place?.schema);
  const log = `${schema}.audit_log`;
  const before = await dumpTables(sql, [...tables, "audit_log"]);
  const assertUnchanged = async (fault: string, wasRefused: boolean): Promise<void> => {
    if (!wasRefused) throw new Error(`the change succeeded although ${fault}`);
    if ((await dumpTables(sql, [...tables, "audit_log"])) !== before)
      throw new Error(`the tables were changed although ${fault}`);
  };

  await ownerSql.unsafe(`alter table ${log} add constraint refused check (false) not valid`);
  const isWithoutEntry = await isRefused(change);
  await ownerSql.unsafe(`alter table ${log} drop constraint refused`);
  await assertUnchanged("the entry of the audit log was refused", isWithoutEntry);

  await ownerSql.unsafe(`
    create function ${schema}.fail_commit() returns trigger language plpgsql
      as $$ begin raise exception 'the commit fails'; end $$`);
  for (const table of tables)
    await ownerSql.unsafe(`
      create constraint trigger fail_commit after insert or update or delete on ${schema}.${table}
        deferrable initially deferred for each row execute function ${schema}.fail_commit()`);
  const isUncommitted = await isRefused(change);
  await ownerSql.unsafe(`drop function ${schema}.fail_commit() cascade`);
  await assertUnchanged("its commit failed", isUncommitted);

  const { length } = await readAuditLog(sql);
  await change();
  return (await readAuditLog(sql)).slice(length);
}
