import { expectSchemaCurrent } from "@postrider/shared/testing/schema";
import { test } from "vitest";
import { createDatabase } from "./accounts-app.ts";

test("schema.sql of the accounts service equals the schema that its migrations create", async () => {
  await using database = await createDatabase(1);
  const file = new URL("../schema.sql", import.meta.url).pathname;
  await expectSchemaCurrent(database, "accounts", file);
});
