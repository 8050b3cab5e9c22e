import { createHash } from "node:crypto";
import type { Sql, TransactionSql } from "#src/postgres.ts";

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /**
   * The texts that a check constraint allows in this column; undefined when there is no such
   * constraint.
   */
  readonly allowed: readonly string[] | undefined;
  /** Table and column that this column's foreign key refers to; null without a foreign key. */
  readonly references: { readonly table: string; readonly column: string } | null;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
}

export interface RowKind {
  readonly isComplete: boolean;
  readonly jsonText: "{}" | "[]";
  readonly fixed: Readonly<Record<string, string>>;
  /** An optional column that a complete row leaves empty. */
  readonly without?: string;
}

/**
 * Returns the tables of the connection's schema from `pg_catalog`; referenced tables come before
 * those that refer to them.
 */
export async function readTables(sql: Sql): Promise<readonly Table[]> {
  const rows = await sql<(Omit<Column, "allowed"> & { table: string; check: string | null })[]>`
    select c.relname as table,
      a.attname as name,
      format_type(a.atttypid, null) as type,
      a.attnotnull and not a.atthasdef and a.attidentity = '' as is_required,
      (
        select pg_get_constraintdef(k.oid)
        from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
        and pg_get_constraintdef(k.oid) like '% = ANY (ARRAY[%'
        limit 1
      ) as check,
      (
        select jsonb_build_object('table', k.confrelid::regclass::text, 'column', f.attname)
        from pg_constraint k
        join pg_attribute f on f.attrelid = k.confrelid and f.attnum = k.confkey[1]
        where k.conrelid = c.oid and k.contype = 'f' and k.conkey = array[a.attnum]
        limit 1
      ) as references
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace
    and c.relkind = 'r'
    and c.relname <> 'schema_migrations'
    and a.attnum > 0
    and not a.attisdropped
    and a.attgenerated = ''
    and a.attidentity <> 'a'
    order by c.relname, a.attnum`;
  const columns = rows.map(({ check, ...column }) => ({ ...column, allowed: textsOf(check) }));
  const tables = Map.groupBy(columns, ({ table }) => table);
  return inOrder([...tables].map(([name, each]) => ({ name, columns: each })));
}

/** Such as `CHECK ((status = ANY (ARRAY['a'::text, 'b'::text])))`. */
function textsOf(check: string | null): readonly string[] | undefined {
  if (check === null) return undefined;
  return [...check.matchAll(/'([^']*)'::text/g)].flatMap(([, text]) => text ?? []);
}

function inOrder(tables: readonly Table[]): readonly Table[] {
  const done: Table[] = [];
  const names = (): readonly string[] => done.map(({ name }) => name);
  while (done.length < tables.length) {
    const next = tables.filter(
      (table) =>
        !done.includes(table) &&
        table.columns.every(
          ({ references }) =>
            references === null ||
            references.table === table.name ||
            names().includes(references.table),
        ),
    );
    if (next.length === 0) throw new Error("the foreign keys of the tables form a circle");
    done.push(...next);
  }
  return done;
}

/**
 * Returns the ways to fill the columns of a table that a test tries: with and without the optional
 * columns or one of them, with each text that a check constraint allows, and with a JSON object or
 * array. Postgres refuses the rows that other constraints do not allow.
 */
export function rowKindsOf({ columns }: Table): readonly RowKind[] {
  const choices = columns.flatMap(({ name, allowed = [] }) =>
    allowed.map((text) => ({ [name]: text })),
  );
  const fixed: readonly Readonly<Record<string, string>>[] = [{}, ...choices];
  const kinds = fixed.flatMap((each) =>
    [true, false].flatMap((isComplete) =>
      (["{}", "[]"] as const).map((jsonText) => ({ isComplete, jsonText, fixed: each })),
    ),
  );
  const optional = columns.filter(({ isRequired }) => !isRequired);
  return [
    ...kinds,
    ...optional.map(({ name }) => {
      return { isComplete: true, jsonText: "{}" as const, fixed: {}, without: name };
    }),
  ];
}

/** `number` makes the values different from those of other rows. */
export async function insertRow(
  tx: TransactionSql,
  table: Table,
  kind: RowKind,
  number: number,
): Promise<void> {
  const { isComplete, fixed, without } = kind;
  const columns = table.columns.filter(
    ({ name, isRequired }) => name !== without && (isComplete || isRequired || name in fixed),
  );
  const values = columns.map((column) => toExpression(column, kind, number));
  const names = columns.map(({ name }) => `"${name}"`);
  await tx.unsafe(`insert into ${table.name} (${names.join(", ")}) values (${values.join(", ")})`);
}

function toExpression(column: Column, { fixed, jsonText }: RowKind, number: number): string {
  const { references, name, type } = column;
  if (references !== null) {
    const { table, column: key } = references;
    return `(select ${key} from ${table} order by ctid desc limit 1)`;
  }
  const text = fixed[name] ?? column.allowed?.[0];
  if (text !== undefined) return `'${text}'`;
  if (type.endsWith("[]")) return `array[${scalar(type.slice(0, -2), number)}]::${type}`;
  return type === "jsonb" ? `'${jsonText}'` : scalar(type, number);
}

function scalar(type: string, number: number): string {
  const hash = createHash("sha256").update(String(number)).digest("hex");
  const values: Readonly<Record<string, string>> = {
    uuid: `'${hash.slice(0, 32)}'::uuid`,
    boolean: "true",
    bytea: `'\\x${hash}'::bytea`,
    date: "date '2026-01-01'",
    "timestamp with time zone": `timestamptz '2026-01-01' + ${number} * interval '1 second'`,
    text: `'text ${number}'`,
  };
  return values[type] ?? String(number);
}
