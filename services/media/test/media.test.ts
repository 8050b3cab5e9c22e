import { fileURLToPath } from "node:url";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { newId } from "@postrider/shared/ids";
import { createTestDatabase, type TestDatabase } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import { expectSchemaCurrent } from "@postrider/shared/testing/schema";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MIGRATIONS } from "#src/config.ts";
import { createRoutes } from "#src/rpc/routes.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ service: "media", migrationsFolder: MIGRATIONS });
});
afterAll(() => database[Symbol.asyncDispose]());

test("schema.sql shows the schema that the migrations make", async () => {
  await expectSchemaCurrent(
    database,
    "media",
    fileURLToPath(new URL("../schema.sql", import.meta.url)),
  );
});

test("a workspace finds its own media and is not told of others'", async () => {
  const media = createTestPeer(createRoutes({ sql: database.sql })).client(MediaService);
  const [mine, theirs] = [newId(), newId()];
  const [here, there] = [newId(), newId()];
  for (const [id, workspaceId] of [
    [mine, here],
    [theirs, there],
  ] as const) {
    await database.sql`
      insert into media (id, workspace_id, status, kind, content_type, bytes, width, height, sha256, file_name)
      values (${id}, ${workspaceId}, 'ready', 'image', 'image/png', 3000000000, 640, 480, 'ab', 'a.png')`;
  }
  const answer = await media.batchGetMedia({
    workspaceId: here,
    ids: [mine, theirs, newId(), "no id"],
  });
  expect(answer.media).toMatchObject([
    {
      id: mine,
      workspaceId: here,
      status: "ready",
      bytes: 3_000_000_000n,
      width: 640,
      sha256: "ab",
    },
  ]);
  expect(await media.batchGetMedia({ workspaceId: here, ids: [] })).toMatchObject({ media: [] });
});
