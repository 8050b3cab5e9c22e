import { createTestDatabase } from "@postrider/shared/testing/database";
import { expectSchemaCurrent } from "@postrider/shared/testing/schema";
import { test } from "vitest";
import { MIGRATIONS } from "#src/config.ts";
import { SCHEMA_FILE } from "./fixture.ts";

test("schema.sql of the posts service equals the schema that its migrations create", async () => {
  await using database = await createTestDatabase({
    service: "posts",
    migrationsFolder: MIGRATIONS,
  });

  await expectSchemaCurrent(database, "posts", SCHEMA_FILE);
});
