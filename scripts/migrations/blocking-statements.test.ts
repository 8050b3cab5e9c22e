import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../check/run-command.ts";
import { findBlockingStatements } from "./blocking-statements.ts";

const FIRST = /\/0001_/;

test("no migration of a service blocks the requests of the release that runs while it is applied", () => {
  const files = globSync("services/*/migrations/*.sql", { cwd: root });
  // The first migration of a service creates all tables of a new installation.
  const later = files.filter((file) => !FIRST.test(file));
  const faults = later.flatMap((file) =>
    findBlockingStatements(readFileSync(join(root, file), "utf8")).map((one) => `${file}: ${one}`),
  );

  expect(files.length - later.length).toBe(4);
  expect(faults).toEqual([]);
});

test.each([
  ["create index posts_by_note on posts (note);", "blocks writers"],
  ["create unique index on posts (note);", "blocks writers"],
  ["alter table posts rename column note to remark;", "renames what the running release uses"],
  ["alter table posts rename to articles;", "renames what the running release uses"],
  ["alter table posts alter column note type varchar(10);", "may rewrite every row"],
  ["alter table posts add column token uuid default gen_random_uuid();", "rewrites every row"],
  ["alter table posts alter note set not null;", "reads a whole table"],
  ["alter table posts add constraint c check (note <> '');", "reads a whole table"],
  ["alter table posts add foreign key (a) references b (c);", "reads a whole table"],
  ["alter table posts add constraint u unique (note);", "builds an index under a lock"],
  ["truncate table posts;", "locks a table as a whole"],
  ["update posts\nset note = '';", "changes rows of a table without a limit"],
  ["create index concurrently i on posts (note);", "-- outside a transaction"],
])("the rules for migrations report `%s`", (text, fault) => {
  expect(findBlockingStatements(text).join("\n")).toContain(fault);
});

test.each([
  ["-- outside a transaction\ncreate index concurrently if not exists i on posts (note);"],
  ["alter table posts add column note text;"],
  ["alter table posts add column kind text not null default 'text';"],
  ["alter table posts add column seen_at timestamptz not null default now();"],
  ["alter table posts add constraint c check (note <> '') not valid;"],
  ["alter table posts add constraint u unique using index posts_by_note;"],
  ["alter table posts validate constraint c;"],
  ["create table notes (id uuid);\ncreate index notes_by_id on notes (id);"],
  [
    "-- in batches\nupdate posts set note = '' where id in (select id from posts where note is null limit 1000)",
  ],
  ["create function f() returns void language sql as $$ update posts set note = ''; $$;"],
])("the rules for migrations accept `%s`", (text) => {
  expect(findBlockingStatements(text)).toEqual([]);
});
