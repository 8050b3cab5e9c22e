import { fileURLToPath } from "node:url";
import { newId } from "@postrider/shared/ids";
import { expectSchemaCurrent } from "@postrider/shared/testing/schema";
import { afterAll, expect, test } from "vitest";
import { insertReadyMedia } from "#src/db/media.ts";
import { LINKS, startMedia } from "./media-fixture.ts";
import { createGrant, upload } from "./upload-client.ts";

const service = await startMedia();
afterAll(() => service[Symbol.asyncDispose]());

test("schema.sql of the media service equals the schema that its migrations create", async () => {
  await expectSchemaCurrent(
    service.database,
    "media",
    fileURLToPath(new URL("../schema.sql", import.meta.url)),
  );
});

test("BatchGetMedia returns the media of the request's workspace and omits the media of other workspaces", async () => {
  const { sql, media } = service;
  const [mine, theirs] = [newId(), newId()];
  const [here, there] = [newId(), newId()];
  for (const [id, workspaceId] of [
    [mine, here],
    [theirs, there],
  ] as const)
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
          frames: 1,
          delivery: { kind: "same" },
        },
        { objectKey: `objects/${id}`, deliveryKey: null },
      ),
    );

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
  expect(answer.urls).toEqual({});
  expect(await media.batchGetMedia({ workspaceId: here, ids: [] })).toMatchObject({ media: [] });
  const { urls } = await media.batchGetMedia({
    workspaceId: here,
    ids: [mine, theirs],
    withUrls: true,
  });
  expect(Object.keys(urls)).toEqual([mine]);
  const token = urls[mine]?.replace("https://gateway.test/media/", "") ?? "";
  expect(LINKS.read(token)).toEqual({ workspaceId: here, mediaId: mine, rendition: "original" });
});

test("CreateUpload and ImportMedia are unavailable while the outbox is full, but an upload with an existing upload grant succeeds", async () => {
  const grant = await createGrant(service, 10);
  await using full = await service.startReplica({ maxOutboxRows: 0 });
  const workspaceId = newId();
  const declared = { workspaceId, fileName: "a.png", contentType: "image/png", bytes: 10n };
  const refused = { kind: "unavailable", retryAfterMs: 5000 };
  await expect(full.media.createUpload(declared)).rejects.toMatchObject(refused);
  const url = "https://files.example.com/a.png";
  await expect(full.media.importMedia({ workspaceId, url })).rejects.toMatchObject(refused);
  expect(await upload(full, grant, Buffer.alloc(10))).toEqual({ status: 204 });
});
