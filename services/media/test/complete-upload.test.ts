import { createHash } from "node:crypto";
import { newId } from "@postrider/shared/ids";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { noise, png, startMedia, type TestMedia } from "./media-fixture.ts";
import { createGrant, upload } from "./upload-client.ts";

let service: TestMedia;
beforeAll(async () => {
  service = await startMedia();
});
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(async () => {
  await service.sql`delete from outbox`;
});

async function uploaded(body: Buffer) {
  const grant = await createGrant(service, body.length);
  await upload(service, grant, body);
  return grant;
}

test("CompleteUpload makes media ready, returns the same answer when it is called again, and publishes MediaReady once", async () => {
  const body = await png();
  const grant = await uploaded(body);
  expect(
    await service.media.batchGetMedia({ workspaceId: grant.workspaceId, ids: [grant.id] }),
  ).toMatchObject({
    media: [{ status: "pending", sha256: "", deliveryBytes: 0n }],
  });

  const ready = await service.complete(grant);

  const sha256 = createHash("sha256").update(body).digest("hex");
  expect(ready).toMatchObject({
    id: grant.id,
    status: "ready",
    kind: "image",
    contentType: "image/png",
    bytes: BigInt(body.length),
    sha256,
    deliverySha256: sha256,
    deliveryBytes: BigInt(body.length),
  });
  expect(await service.complete(grant)).toEqual(ready);
  expect(await service.events()).toEqual([["MediaReady", grant.id, 2n]]);
});

test("CompleteUpload permanently rejects an upload that does not have the declared type and deletes its object", async () => {
  const before = await service.listStored();
  const grant = await uploaded(noise(50));
  const rejected = {
    kind: "unprocessable",
    reason: "media_rejected",
    violations: [{ code: "media_type_mismatch" }],
  };

  await expect(service.complete(grant)).rejects.toMatchObject(rejected);
  await expect(service.complete(grant)).rejects.toMatchObject(rejected);

  expect(await service.listStored()).toEqual(before);
  expect(await service.events()).toEqual([]);
  expect(await upload(service, grant, noise(50))).toMatchObject({
    reason: "upload_already_received",
  });
});

test("CompleteUpload fails before the bytes are uploaded and succeeds afterwards", async () => {
  const body = await png();
  const grant = await createGrant(service, body.length);

  await expect(service.complete(grant)).rejects.toMatchObject({
    kind: "conflict",
    reason: "media_not_uploaded",
  });
  await upload(service, grant, body);
  expect(await service.complete(grant)).toMatchObject({ status: "ready" });
});

test("CompleteUpload returns not_found for media of another workspace, unknown media and deleted media", async () => {
  const grant = await uploaded(await png());

  for (const ref of [
    { ...grant, workspaceId: newId() },
    { ...grant, id: newId() },
    { ...grant, id: "no-id" },
  ])
    await expect(service.complete(ref)).rejects.toMatchObject({ reason: "not_found" });
  await service.media.deleteMedia({ workspaceId: grant.workspaceId, id: grant.id });
  await expect(service.complete(grant)).rejects.toMatchObject({ reason: "not_found" });
});

test("CompleteUpload says which type a file has that was declared as another one, also when it is repeated", async () => {
  const jpeg = await sharp(await png())
    .jpeg()
    .toBuffer();
  const grant = await uploaded(jpeg);

  for (const _attempt of ["first", "repeated"])
    await expect(service.complete(grant)).rejects.toMatchObject({
      reason: "media_rejected",
      violations: [{ code: "media_type_mismatch", found: "image/jpeg" }],
    });
});

test("CompleteUpload says which type a file has that is not accepted at all", async () => {
  const grant = await uploaded(Buffer.from("%PDF-1.7\n%EOF"));

  await expect(service.complete(grant)).rejects.toMatchObject({
    violations: [{ found: "application/pdf" }],
  });
});
