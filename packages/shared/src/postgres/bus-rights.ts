import { domainsOf } from "#src/bus/topics.ts";
import type { TransactionSql } from "#src/postgres.ts";

/**
 * Age in days from which Postgres lets every service delete a record of the Postgres bus. It is one day less than the
 * seven days after which the services delete records.
 */
const DELETABLE_AFTER_DAYS = 6;

interface Policy {
  readonly table: "records" | "positions";
  readonly name: string;
  /** The part of the SQL statement `create policy` that follows the name of the table. */
  readonly rule: string;
}

function policiesOf(service: string, role: string): readonly Policy[] {
  const ownGroup = `(group_name = '${service}' or starts_with(group_name, '${service}.'))`;
  return [
    { table: "records", name: "read", rule: "for select using (true)" },
    {
      table: "records",
      name: "delete_old",
      rule: `for delete using (appended_at < now() - interval '${DELETABLE_AFTER_DAYS} days')`,
    },
    ...new Set([service, ...domainsOf(service)]).values().map((domain): Policy => ({
      table: "records",
      name: `append_${domain}`,
      rule: `for insert to ${role} with check (starts_with(topic, '${domain}.'))`,
    })),
    { table: "positions", name: "read", rule: "for select using (true)" },
    {
      table: "positions",
      name: `insert_${service}`,
      rule: `for insert to ${role} with check ${ownGroup}`,
    },
    {
      table: "positions",
      name: `move_${service}`,
      rule: `for update to ${role} using ${ownGroup} with check ${ownGroup}`,
    },
  ];
}

/**
 * Creates a row-level security policy if it does not exist yet. An existing policy is kept, because replacing it would lock the
 * table against the running services.
 */
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
 * Lets the database role of a service use the Postgres bus: the role reads all topics, appends only to its own topics, whose
 * names begin with the name of the service or of one of its domains, and moves only the positions of its own consumer
 * groups. The role cannot choose the id of a record, so it cannot use up the ids that later records of other services will
 * get.
 */
export async function grantBus(tx: TransactionSql, service: string, role: string): Promise<void> {
  await tx.unsafe(`grant usage on schema bus to ${role}`);
  await tx.unsafe(`grant select, delete on bus.records to ${role}`);
  await tx.unsafe(`grant insert (topic, key, headers, value) on bus.records to ${role}`);
  await tx.unsafe(`grant usage on sequence bus.record_ids to ${role}`);
  await tx.unsafe(`grant select, insert, update on bus.positions to ${role}`);
  for (const policy of policiesOf(service, role)) await createPolicy(tx, policy);
}
