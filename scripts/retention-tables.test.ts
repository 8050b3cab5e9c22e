import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const SCHEMAS = [
  ...["accounts", "posts", "media", "delivery"].map((service) => `services/${service}/schema.sql`),
  "packages/shared/src/postgres/bus.sql",
];

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

test("docs/operations.md says for every table of every schema, exactly once, what ends its rows", () => {
  const tables = SCHEMAS.flatMap((file) => [
    ...read(file).matchAll(/^create (?:unlogged )?table (?:if not exists )?([a-z_.]+)/gm),
  ]).map(([, name = ""]) => name);
  const [, section = ""] = read("docs/operations.md").split(/^### Every table$/m);
  const [list = ""] = section.split(/^## /m);
  const rows = list.split("\n").filter((line) => line.startsWith("| `"));
  const listed = rows.flatMap((line) =>
    [...(line.split(" | ")[0] ?? "").matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(
      ([, name = ""]) => name,
    ),
  );
  expect(tables.length).toBeGreaterThan(80);
  expect(listed.toSorted()).toEqual(tables.toSorted());
});
