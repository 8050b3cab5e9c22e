import { expectSchemaCurrent } from "@postrider/shared/testing/schema";
import { test } from "vitest";
import { openDatabase, SCHEMA_FILE } from "./publishing/fixture.ts";

test("the file schema.sql of the delivery service equals the schema that its migrations create", async () => {
  await using database = await openDatabase();

  await expectSchemaCurrent(database, "delivery", SCHEMA_FILE);
});
