import { readFileSync } from "node:fs";
import { domainsOf } from "#src/bus/topics.ts";
import { openSql, type Sql, type TransactionSql } from "#src/postgres.ts";
import { grantRuntime, grantWebhooks } from "#src/postgres/runtime-rights.ts";
import {
  createRoles,
  migrationRoleOf,
  runtimeRoleOf,
  type ServiceRole,
  webhooksRoleOf,
} from "#src/postgres/service-role.ts";

/** A day less than the seven after which the services delete records. */
const DELETABLE_AFTER_DAYS = 6;

interface Policy {
  readonly table: "records" | "positions";
  readonly name: string;
  /** What follows the name of the table in `create policy`. */
  readonly rule: string;
}

/** For the records of removed workspaces, which every group has handled. */
function deleteHandled(role: string): Policy {
  const unhandled =
    "select from bus.positions as p where p.topic = records.topic and p.position < records.id";
  return {
    table: "records",
    name: "delete_handled",
    rule: `for delete to ${role} using (not exists (${unhandled}))`,
  };
}

interface BusUser {
  readonly role: string;
  /** It uses this consumer group, and those whose names continue this one after a dot. */
  readonly group: string;
  /** What the topics to which it appends begin with. */
  readonly domains: readonly string[];
}

function policiesOf({ role, group, domains }: BusUser): readonly Policy[] {
  const ownGroup = `(group_name = '${group}' or starts_with(group_name, '${group}.'))`;
  const user = group.replace(".", "_");
  return [
    { table: "records", name: "read", rule: "for select using (true)" },
    {
      table: "records",
      name: "delete_old",
      rule: `for delete using (appended_at < now() - interval '${DELETABLE_AFTER_DAYS} days')`,
    },
    ...(group === "accounts" ? [deleteHandled(role)] : []),
    ...domains.map((domain): Policy => ({
      table: "records",
      name: `append_${domain}`,
      rule: `for insert to ${role} with check (starts_with(topic, '${domain}.'))`,
    })),
    { table: "positions", name: "read", rule: "for select using (true)" },
    {
      table: "positions",
      name: `insert_${user}`,
      rule: `for insert to ${role} with check ${ownGroup}`,
    },
    {
      table: "positions",
      name: `move_${user}`,
      rule: `for update to ${role} using ${ownGroup} with check ${ownGroup}`,
    },
  ];
}

/** Replacing an existing policy would lock the table against the running services. */
async function createPolicy(tx: TransactionSql, { table, name, rule }: Policy): Promise<void> {
  const existing = await tx`
    select 1
    from pg_policies
    where schemaname = 'bus'
    and tablename = ${table}
    and policyname = ${name}`;
  if (existing.length === 0) await tx.unsafe(`create policy ${name} on bus.${table} ${rule}`);
}

/**
 * The role reads all topics, appends only to those of its own domains, and moves only the positions
 * of its own groups. It cannot choose the id of a record, so it cannot use up the ids of later
 * records of other services.
 */
async function grantBus(tx: TransactionSql, user: BusUser): Promise<void> {
  const { role, domains } = user;
  await tx.unsafe(`grant usage on schema bus to ${role}`);
  await tx.unsafe(`grant select, delete on bus.records to ${role}`);
  if (domains.length > 0) {
    await tx.unsafe(`grant insert (topic, key, headers, value) on bus.records to ${role}`);
    await tx.unsafe(`grant usage on sequence bus.record_ids to ${role}`);
  }
  await tx.unsafe(`grant select, insert, update on bus.positions to ${role}`);
  for (const policy of policiesOf(user)) await createPolicy(tx, policy);
}

const BUS_SQL = readFileSync(new URL("./bus.sql", import.meta.url), "utf8");

async function provisionService(tx: TransactionSql, role: ServiceRole): Promise<void> {
  const { service, webhooksPassword } = role;
  await createRoles(tx, role);
  await tx.unsafe(
    `create schema if not exists ${service} authorization ${migrationRoleOf(service)}`,
  );
  const domains = [...new Set([service, ...domainsOf(service)])];
  await grantBus(tx, { role: runtimeRoleOf(service), group: service, domains });
  if (webhooksPassword === undefined) return;
  const group = `${service}.webhooks`;
  await grantBus(tx, { role: webhooksRoleOf(service), group, domains: [] });
}

/** A statement that needs a lock fails soon instead of making the services wait. */
async function prepare(tx: TransactionSql): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('postrider.provision'))`;
  await tx`set local lock_timeout = '5s'`;
}

async function grantAsOwner(sql: Sql, { service, webhooksPassword }: ServiceRole): Promise<void> {
  await sql.begin(async (tx) => {
    await prepare(tx);
    await tx.unsafe(`set local role ${migrationRoleOf(service)}`);
    await grantRuntime(tx, service, runtimeRoleOf(service));
    if (webhooksPassword !== undefined) await grantWebhooks(tx, service, webhooksRoleOf(service));
  });
}

/**
 * For each service a schema, a migration role that owns it, and a runtime role that can only read
 * and write rows; and the schema of the Postgres bus. Needs the database owner. Repeating it sets
 * passwords again and adds rights of a newer release. A role can use no schema of another service.
 */
export async function provisionDatabase(
  ownerUrl: string,
  roles: readonly ServiceRole[],
): Promise<void> {
  const sql: Sql = openSql({
    url: ownerUrl,
    poolSize: 1,
    applicationName: "postrider-provision",
    answerTimeoutMs: null,
  });
  try {
    await sql.begin(async (tx) => {
      await prepare(tx);
      await tx.unsafe(BUS_SQL);
      for (const role of roles) await provisionService(tx, role);
    });
    for (const role of roles) await grantAsOwner(sql, role);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
