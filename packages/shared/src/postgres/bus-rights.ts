import { domainsOf } from "#src/bus/topics.ts";
import type { TransactionSql } from "#src/postgres.ts";

/**
 * From this age every service may delete a record: a day less than the seven after which they do.
 */
const DELETABLE_AFTER_DAYS = 6;

interface Policy {
  readonly table: "records" | "positions";
  readonly name: string;
  /** What follows the name of the table in `create policy`. */
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
 * An existing policy is kept, because replacing it would lock the table against the running
 * services.
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
 * The role reads all topics, appends only to those of its own domains, and moves only the positions
 * of its own groups. It cannot choose the id of a record, so it cannot use up the ids of later
 * records of other services.
 */
export async function grantBus(tx: TransactionSql, service: string, role: string): Promise<void> {
  await tx.unsafe(`grant usage on schema bus to ${role}`);
  await tx.unsafe(`grant select, delete on bus.records to ${role}`);
  await tx.unsafe(`grant insert (topic, key, headers, value) on bus.records to ${role}`);
  await tx.unsafe(`grant usage on sequence bus.record_ids to ${role}`);
  await tx.unsafe(`grant select, insert, update on bus.positions to ${role}`);
  for (const policy of policiesOf(service, role)) await createPolicy(tx, policy);
}
