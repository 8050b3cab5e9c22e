import { kindOf } from "../../packages/shared/src/postgres/migration-steps.ts";

interface Rule {
  /** What a statement must not match, in lower case and with single spaces. */
  readonly pattern: RegExp;
  readonly fault: string;
}

const NOT_NEW = "of a table that exists";

/**
 * Statements that block requests to a large table, or break the release that still runs. What they
 * do to an empty table of the same migration is harmless.
 */
const RULES: readonly Rule[] = [
  {
    pattern: /^create (?:unique )?index (?!concurrently)(?:.*? )?on (?:only )?(?<table>[^\s(]+)/,
    fault: `blocks writers ${NOT_NEW} until the index is built; create it concurrently in a migration with the first line "-- outside a transaction"`,
  },
  {
    pattern: /^alter table (?:only )?(?<table>\S+) rename/,
    fault:
      "renames what the running release uses; add a column or table with the new name, and remove the old one a release later",
  },
  {
    pattern: /^alter table (?:only )?(?<table>\S+) .*alter (?:column )?\S+ (?:set data )?type /,
    fault: `may rewrite every row ${NOT_NEW}; add a column, fill it in batches, and remove the old one a release later`,
  },
  {
    pattern:
      /^alter table (?:only )?(?<table>\S+) .*add (?:column )?(?!constraint).* default [^,]*(?:random|uuid|clock_timestamp|nextval|timeofday)/,
    fault: `rewrites every row ${NOT_NEW}, because the default differs from row to row; fill the column in batches`,
  },
  {
    pattern: /^alter table (?:only )?(?<table>\S+) .*set not null/,
    fault: `reads a whole table under a lock; add "check (… is not null) not valid", validate it in the next migration, and then set it`,
  },
  {
    pattern:
      /^alter table (?:only )?(?<table>\S+) .*add (?:constraint \S+ )?(?:check|foreign key)(?!.*not valid)/,
    fault: `reads a whole table under a lock; add it with "not valid", and validate it in the next migration`,
  },
  {
    pattern:
      /^alter table (?:only )?(?<table>\S+) .*add (?:constraint \S+ )?(?:unique|primary key|exclude)(?!.*using index)/,
    fault: `builds an index under a lock; create it concurrently, then add the constraint "using index"`,
  },
  {
    pattern: /^(?:lock|truncate|cluster|vacuum full)(?: table)? (?<table>\S+)/,
    fault: "locks a table as a whole",
  },
  {
    pattern: /^(?:update|delete from|insert into) (?<table>\S+)(?!.* limit )/,
    fault:
      'changes rows of a table without a limit; make it a migration with the first line "-- in batches"',
  },
];

const withoutQuotes = (text: string): string => text.replaceAll(/\$(\w*)\$.*?\$\1\$/gs, "''");

/** Reasons why a migration would stop requests of the release that runs. */
export function findBlockingStatements(text: string): readonly string[] {
  const statements = withoutQuotes(text)
    .replaceAll(/--.*$/gm, "")
    .split(";")
    .map((statement) => statement.toLowerCase().replaceAll(/\s+/g, " ").trim());
  const created = statements.map(
    (statement) => /^create table (?:if not exists )?([^\s(]+)/.exec(statement)?.[1],
  );
  const faults = statements.flatMap((statement) =>
    RULES.flatMap(({ pattern, fault }) => {
      const table = pattern.exec(statement)?.groups?.["table"];
      if (table === undefined || created.includes(table.replace(/\(.*/, ""))) return [];
      return [`"${statement.slice(0, 60)}" ${fault}`];
    }),
  );
  const isConcurrent = statements.some((statement) => / index concurrently /.test(statement));
  return isConcurrent && kindOf(text) !== "steps"
    ? [
        ...faults,
        'an index is created concurrently; begin with the line "-- outside a transaction"',
      ]
    : faults;
}
