import { copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dumpSchema } from "@postrider/shared/postgres/schema-dump";
import { createTestDatabase } from "@postrider/shared/testing/database";
import { expect, test } from "vitest";
import { MIGRATIONS } from "#src/config.ts";

/** The first text of migration 0004, which failed when `media_usages` contained rows. */
const FORMER = `
alter table media_usages rename column created_at to noted_at;
alter table media_usages add column post_version bigint not null, add column claim_id uuid;
drop index media_usages_post;`;

async function dump(migrationsFolder: string): Promise<string> {
  await using database = await createTestDatabase({ service: "media", migrationsFolder });
  return await dumpSchema(database.sql, "media");
}

test("the media migration 0004, whose text was corrected, creates the same schema as its first text", async () => {
  const folder = await mkdtemp(join(tmpdir(), "media-migrations-"));
  for (const name of await readdir(MIGRATIONS))
    await copyFile(join(MIGRATIONS, name), join(folder, name));
  await writeFile(join(folder, "0004_usage_versions.sql"), FORMER);

  expect(await dump(folder)).toBe(await dump(MIGRATIONS));
  await rm(folder, { recursive: true });
});
