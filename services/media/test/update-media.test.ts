import { newId } from "@postrider/shared/ids";
import { afterAll, expect, test } from "vitest";
import { insertReadyMedia, insertUpload } from "#src/db/media.ts";
import { startMedia } from "./media-fixture.ts";

const service = await startMedia();
afterAll(() => service[Symbol.asyncDispose]());

/** Inserts ready media into a new workspace, with a function that updates them. */
async function someMedia(kind: "image" | "video" = "video") {
  const { sql, media } = service;
  const [id, workspaceId] = [newId(), newId()];
  const found = { kind, contentType: `${kind}/x`, bytes: 5, sha256: "ab", width: 1, height: 2 };
  const durationMs = kind === "video" ? 3_000 : null;
  const inspected = { ...found, frames: 1, durationMs, delivery: { kind: "same" } } as const;
  await sql.begin((tx) =>
    insertReadyMedia(tx, { id, workspaceId, fileName: "a" }, inspected, {
      objectKey: `objects/${newId()}`,
      deliveryKey: null,
    }),
  );
  return {
    id,
    workspaceId,
    update: (change: { altText?: string; coverMs?: bigint }) =>
      media.updateMedia({ workspaceId, id, ...change }),
    read: async () => (await media.batchGetMedia({ workspaceId, ids: [id] })).media[0],
    version: async () => (await sql`select version from media where id = ${id}`)[0]?.version,
  };
}

test("UpdateMedia changes the fields that are present, and BatchGetMedia returns them", async () => {
  const { update, read, version } = await someMedia();
  expect((await update({ altText: "A boat 🚤" })).media).toMatchObject({ altText: "A boat 🚤" });
  expect((await update({ coverMs: 2_999n })).media).toMatchObject({
    altText: "A boat 🚤",
    coverMs: 2_999n,
  });
  expect(await read()).toMatchObject({ altText: "A boat 🚤", coverMs: 2_999n });
  expect(await version()).toBe(3);
});

test("UpdateMedia removes the description if the given one is only white space, and removes the cover if its given time is -1", async () => {
  const { update, read } = await someMedia();
  await update({ altText: "A boat", coverMs: 0n });
  expect(await read()).toMatchObject({ altText: "A boat", coverMs: 0n });
  await update({ altText: " \n", coverMs: -1n });
  const media = await read();
  expect([media?.altText, media?.coverMs]).toEqual([undefined, undefined]);
});

test("UpdateMedia refuses a cover outside the video, a cover of an image, a long description and a request that changes no field", async () => {
  const [video, image] = [await someMedia(), await someMedia("image")];
  const violation = { kind: "unprocessable", reason: "validation_failed" };
  await expect(video.update({ coverMs: 3_000n })).rejects.toMatchObject({
    ...violation,
    violations: [{ code: "cover_outside_video", path: "/coverMs", limit: 3_000, actual: 3_000 }],
  });
  await expect(image.update({ coverMs: 0n, altText: "A boat" })).rejects.toMatchObject({
    ...violation,
    violations: [{ code: "cover_needs_video", path: "/coverMs" }],
  });
  expect((await image.read())?.altText).toBeUndefined();
  const invalid = { kind: "invalid", reason: "invalid_request" };
  for (const change of [{}, { altText: "a".repeat(1_501) }, { coverMs: -2n }])
    await expect(video.update(change)).rejects.toMatchObject(invalid);
  await video.update({ altText: "🚤".repeat(1_500) });
});

test("UpdateMedia refuses media whose file was prepared for a platform, and changes nothing", async () => {
  const { id, update, read } = await someMedia();
  await update({ altText: "A boat" });
  await service.sql`update media set prepared_at = now() where id = ${id}`;
  const inUse = {
    kind: "conflict",
    reason: "media_in_use",
    violations: [{ code: "already_sent" }],
  };
  await expect(update({ altText: "A ship" })).rejects.toMatchObject(inUse);
  await expect(update({ coverMs: -1n })).rejects.toMatchObject(inUse);
  expect(await read()).toMatchObject({ altText: "A boat" });
});

test("UpdateMedia names the post with which a platform received the media first", async () => {
  const { id: mediaId, workspaceId, update } = await someMedia();
  const [postId, later] = [newId(), newId()];
  const prepare = (item: { readonly postId: string }) =>
    service.media.prepareMedia({ items: [{ workspaceId, mediaId, ...item }] });
  await prepare({ postId });
  await prepare({ postId: later });
  await expect(update({ altText: "A ship" })).rejects.toMatchObject({
    reason: "media_in_use",
    violations: [{ code: "already_sent", postId }],
  });
});

test("UpdateMedia waits for a transaction that prepares the same media for a platform, and then refuses the change", async () => {
  const { id, update } = await someMedia();
  const { sql } = service;
  const updating = await sql.begin(async (tx) => {
    await tx`update media set prepared_at = now() where id = ${id}`;
    const waiting = Promise.allSettled([update({ altText: "Too late" })]);
    await expect
      .poll(async () => {
        const rows = await sql`
          select 1
          from pg_stat_activity
          where wait_event_type = 'Lock'
          and query like '%is_prepared%'
          and datname = current_database()`;
        return rows.length;
      })
      .toBe(1);
    return { waiting };
  });
  const [{ reason }] = (await updating.waiting) as [PromiseRejectedResult];
  expect(reason).toMatchObject({ kind: "conflict", reason: "media_in_use" });
});

test("UpdateMedia refuses media that do not exist, belong to another workspace or are not ready", async () => {
  const { id, workspaceId } = await someMedia();
  const { sql, media } = service;
  const change = { altText: "A boat" };
  const missing = { kind: "not_found", reason: "not_found" };
  for (const ref of [
    { workspaceId, id: newId() },
    { workspaceId: newId(), id },
    { workspaceId, id: "no id" },
  ])
    await expect(media.updateMedia({ ...ref, ...change })).rejects.toMatchObject(missing);
  const upload = { workspaceId, kind: "image", contentType: "image/png", bytes: 5 } as const;
  const pending = { workspaceId, id: newId() };
  await sql.begin((tx) => insertUpload(tx, { ...upload, id: pending.id, fileName: "a" }));
  const notUploaded = { kind: "conflict", reason: "media_not_uploaded" };
  await expect(media.updateMedia({ ...pending, ...change })).rejects.toMatchObject(notUploaded);
  await sql`update media set status = 'rejected', rejection = '{"code":"x"}' where id = ${pending.id}`;
  const rejected = { kind: "unprocessable", reason: "media_rejected", violations: [{ code: "x" }] };
  await expect(media.updateMedia({ ...pending, ...change })).rejects.toMatchObject(rejected);
  await media.deleteMedia({ workspaceId, id });
  await expect(media.updateMedia({ workspaceId, id, ...change })).rejects.toMatchObject(missing);
});
