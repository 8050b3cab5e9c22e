import { fileURLToPath } from "node:url";
import { newId } from "@postrider/shared/ids";
import { expectSchemaCurrent } from "@postrider/shared/testing/schema";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertReadyMedia } from "#src/db/media.ts";
import { startMedia, type TestMedia } from "./fixture.ts";

let service: TestMedia;
beforeAll(async () => {
  service = await startMedia();
});
afterAll(() => service[Symbol.asyncDispose]());

test("schema.sql shows the schema that the migrations make", async () => {
  await expectSchemaCurrent(
    service.database,
    "media",
    fileURLToPath(new URL("../schema.sql", import.meta.url)),
  );
});

test("a workspace finds its own media and is not told of others'", async () => {
  const { sql, media } = service;
  const [mine, theirs] = [newId(), newId()];
  const [here, there] = [newId(), newId()];
  for (const [id, workspaceId] of [
    [mine, here],
    [theirs, there],
  ] as const) {
    await sql.begin((tx) =>
      insertReadyMedia(
        tx,
        { id, workspaceId, fileName: "a.png" },
        {
          kind: "image",
          contentType: "image/png",
          bytes: 3_000_000_000,
          sha256: "ab",
          width: 640,
          height: 480,
          durationMs: null,
          delivery: { kind: "same" },
        },
        { objectKey: `objects/${id}`, deliveryKey: null },
      ),
    );
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
      deliveryBytes: 3_000_000_000n,
      deliverySha256: "ab",
      deliveryContentType: "image/png",
    },
  ]);
  expect(await media.batchGetMedia({ workspaceId: here, ids: [] })).toMatchObject({ media: [] });
});
