import { startTestS3 } from "@postrider/local/s3/test-s3";
import { loadConfig } from "@postrider/shared/config";
import { afterAll, expect, test } from "vitest";
import { MIN_FILE_BYTES } from "#src/db/storage.ts";
import { openObjectStore, readStorageConfig } from "#src/storage/open-object-store.ts";
import { png, startMedia } from "./media-fixture.ts";
import { createGrant, upload, type Grant } from "./upload-client.ts";

const s3 = await startTestS3();
const store = await openObjectStore(loadConfig(s3.settings, readStorageConfig));
const service = await startMedia({ store });
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

async function putDirectly(
  { uploadUrl }: Grant,
  body: Buffer,
  contentType = "image/png",
): Promise<number> {
  if (uploadUrl === undefined) throw new Error("the grant has no upload URL");
  const answer = await fetch(uploadUrl, {
    method: "PUT",
    body: new Uint8Array(body),
    headers: contentType === "" ? {} : { "content-type": contentType },
  });
  await answer.arrayBuffer();
  return answer.status;
}

async function readObject({ id }: Grant): Promise<Buffer | undefined> {
  const [row] = await service.sql<{ objectKey: string }[]>`
    select object_key from media where id = ${id}`;
  const object = await service.store.open(row?.objectKey ?? "objects/none");
  return object && Buffer.concat(await Array.fromAsync(object.content));
}

test("after CompleteUpload, a client that writes to its upload URL again does not change the media, and the written object is deleted", async () => {
  const [first, second] = [await png(1), await png(2)];
  expect(second).toHaveLength(first.length);
  const grant = await createGrant(service, first.length);
  expect(await putDirectly(grant, first)).toBe(200);

  const media = await service.complete(grant);
  expect(await putDirectly(grant, second)).toBe(200);

  expect(await service.complete(grant)).toEqual(media);
  expect(await readObject(grant)).toEqual(first);
  expect(await service.listStored()).toEqual([`objects/${grant.id}`, `uploads/${grant.id}`]);
  await service.removeOrphans(-60_000);
  expect(await service.listStored()).toEqual([`objects/${grant.id}`]);
});

test.each([
  "",
  "application/octet-stream",
  "binary/octet-stream",
  "image/x-png",
  "image/png; charset=binary",
])(
  "the object store takes an upload with the type %s if the client declared this type",
  async (contentType) => {
    const body = await png(8);
    const grant = await createGrant(service, body.length, { contentType });

    expect(await putDirectly(grant, body, contentType)).toBe(200);
    expect(await service.complete(grant)).toMatchObject({ contentType: "image/png" });
  },
);

test("CompleteUpload accepts the file that the client uploaded last to the object store and marks the upload grant as used", async () => {
  const [first, second] = [await png(3), await png(4)];
  const grant = await createGrant(service, first.length);
  await putDirectly(grant, first);
  await putDirectly(grant, second);

  await service.complete(grant);

  expect(await readObject(grant)).toEqual(second);
  expect(await upload(service, grant, first)).toMatchObject({ reason: "upload_already_received" });
});

test("an upload through the media service replaces an unchecked file that was uploaded directly to the object store", async () => {
  const [ours, theirs] = [await png(5), await png(6)];
  const grant = await createGrant(service, ours.length);
  await putDirectly(grant, theirs);
  expect(await upload(service, grant, ours)).toEqual({ status: 204 });

  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
  expect(await readObject(grant)).toEqual(ours);
});

test("a file that a client uploaded to the object store in time can be completed after its upload grant has expired", async () => {
  const body = await png(7);
  const grant = await createGrant(service, body.length);
  await putDirectly(grant, body);
  await service.sql`
    update upload_grants set expires_at = now() - interval '2 hours' where media_id = ${grant.id}`;
  await service.removeForgottenUploads(86_400_000);

  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
});

test("CompleteUpload finishes the move of a file uploaded to the object store after a crash interrupted the move", async () => {
  const body = await png(8);
  const grant = await createGrant(service, body.length);
  await putDirectly(grant, body);
  await service.sql`update media set object_key = ${`objects/${grant.id}`} where id = ${grant.id}`;
  await service.removeOrphans(-60_000);

  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
  expect(await readObject(grant)).toEqual(body);
});

test("deleted media count against the storage limit until their upload URL can no longer be used, and do not exist for clients", async () => {
  const body = await png(10);
  const grant = await createGrant(service, body.length);
  const { workspaceId, id } = grant;
  const storage = async () => (await service.storage.getStorage({ workspaceId })).storage;
  expect(await service.media.deleteMedia({ workspaceId, id })).toMatchObject({ gone: true });
  expect(await putDirectly(grant, body)).toBe(200);

  expect(await storage()).toMatchObject({ usedBytes: BigInt(MIN_FILE_BYTES), reservedBytes: 0n });
  expect((await service.media.batchGetMedia({ workspaceId, ids: [id] })).media).toEqual([]);
  const use = { workspaceId, ids: [id], postId: id, postVersion: 1n, claimId: id };
  expect((await service.media.useMedia(use)).media).toEqual([]);
  const missing = { reason: "not_found" };
  await expect(service.complete(grant)).rejects.toMatchObject(missing);
  await expect(service.media.deleteMedia({ workspaceId, id })).rejects.toMatchObject(missing);
  expect(await upload(service, grant, body)).toMatchObject(missing);
  expect(await service.removeObjects()).toBe(0);
  const [kept] = await service.sql<{ isLater: boolean }[]>`
    select lease_until > expires_at as is_later
    from media
    join upload_grants on media_id = id
    where id = ${id}`;
  expect(kept).toEqual({ isLater: true });

  await service.sql`
    update upload_grants set expires_at = now() - interval '1 day' where media_id = ${id}`;
  await service.sql`update media set lease_until = now() - interval '1 second' where id = ${id}`;
  expect(await service.removeObjects()).toBe(1);
  expect(await service.listStored()).not.toContain(`uploads/${id}`);
  expect(await storage()).toMatchObject({ usedBytes: 0n, reservedBytes: 0n });
});

test.each([
  ["rejected", false],
  ["rejected and deleted", true],
  ["accepted and deleted", true],
])(
  "media that were %s count against the storage limit until their upload URL can no longer be used",
  async (what, isDeleted) => {
    const isRejected = what.startsWith("rejected");
    const body = isRejected ? Buffer.from("not an image") : await png(11);
    const grant = await createGrant(service, body.length);
    const { workspaceId, id } = grant;
    const storage = async () => (await service.storage.getStorage({ workspaceId })).storage;
    expect(await putDirectly(grant, body)).toBe(200);
    const outcome = await service.complete(grant).then(
      ({ status }) => status,
      ({ reason }: { reason: string }) => reason,
    );
    expect(outcome).toBe(isRejected ? "media_rejected" : "ready");
    if (isDeleted) await service.media.deleteMedia({ workspaceId, id });
    await service.removeObjects();

    expect(await service.listStored()).not.toContain(`objects/${id}`);
    const found = await service.media.batchGetMedia({ workspaceId, ids: [id] });
    expect(found.media).toHaveLength(isDeleted ? 0 : 1);
    expect(await putDirectly(grant, body)).toBe(200);
    await service.removeObjects();
    expect(await storage()).toMatchObject({ usedBytes: BigInt(MIN_FILE_BYTES) });

    await service.sql`
      update upload_grants set expires_at = now() - interval '1 day' where media_id = ${id}`;
    await service.sql`update media set lease_until = now() - interval '1 second' where id = ${id}`;
    expect(await service.removeObjects()).toBe(1);
    expect(await service.listStored()).not.toContain(`uploads/${id}`);
    expect(await storage()).toMatchObject({ usedBytes: 0n, reservedBytes: 0n });
  },
);

test("media that are deleted after their upload URL has expired lose their database row at once", async () => {
  const grant = await createGrant(service, 10);
  const { workspaceId, id } = grant;
  await service.sql`
    update upload_grants set expires_at = now() - interval '1 second' where media_id = ${id}`;
  expect(await service.media.deleteMedia({ workspaceId, id })).toMatchObject({ gone: true });
  expect(await service.sql`select 1 from media where id = ${id}`).toHaveLength(0);
});

test("a file that a client uploads to the object store but never completes is deleted together with its media", async () => {
  const body = await png(9);
  const grant = await createGrant(service, body.length);
  await putDirectly(grant, body);
  await service.removeOrphans(-60_000);
  expect(await service.listStored()).toContain(`uploads/${grant.id}`);

  await service.sql`update media set created_at = now() - interval '1 day' where id = ${grant.id}`;
  await service.removeForgottenUploads(86_400_000);

  expect(await service.listStored()).not.toContain(`uploads/${grant.id}`);
  await expect(service.complete(grant)).rejects.toMatchObject({ reason: "not_found" });
});
