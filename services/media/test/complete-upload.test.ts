import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { newId } from "@postrider/shared/ids";
import { asClient, BY_CLIENT } from "@postrider/shared/testing/audit";
import sharp from "sharp";
import { afterAll, beforeEach, expect, test } from "vitest";
import { noise, png, startMedia } from "./media-fixture.ts";
import { createGrant, upload } from "./upload-client.ts";

const service = await startMedia();
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(async () => {
  await service.sql`delete from outbox`;
});

async function uploaded(body: Buffer, contentType = "image/png") {
  const grant = await createGrant(service, body.length, { contentType });
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

test("CompleteUpload does not advise to declare the real type of a file whose type is not accepted or not known", async () => {
  const avif = await sharp(await png())
    .avif()
    .toBuffer();
  for (const [body, found] of [
    [Buffer.from("%PDF-1.7\n%EOF"), "application/pdf"],
    [avif, "image/avif"],
    [Buffer.from("<!doctype html><title>404</title>"), "text/html"],
    [
      Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
      "image/svg+xml",
    ],
    [Buffer.from('{"error":"expired"}'), "application/json"],
  ] as const)
    await expect(service.complete(await uploaded(body))).rejects.toMatchObject({
      violations: [
        {
          code: "media_type_unsupported",
          found,
          allowed: expect.arrayContaining(["image/jpeg"]) as string[],
        },
      ],
    });
  await expect(service.complete(await uploaded(noise(50)))).rejects.toMatchObject({
    violations: [
      expect.not.objectContaining({ found: expect.anything() as unknown }) as unknown as object,
    ],
  });
});

test("CompleteUpload takes the type of a file that was declared as application/octet-stream from its bytes, whatever its name", async () => {
  const jpeg = await sharp(await png())
    .jpeg()
    .toBuffer();
  const video = await readFile(new URL("./videos/h264-aac.mov", import.meta.url));
  for (const [body, kind, contentType] of [
    [jpeg, "image", "image/jpeg"],
    [video, "video", "video/quicktime"],
  ] as const) {
    const grant = await uploaded(body, "application/octet-stream");
    expect(await service.complete(grant)).toMatchObject({ status: "ready", kind, contentType });
  }
  await expect(
    service.complete(await uploaded(Buffer.from("%PDF-1.7\n%EOF"), "application/octet-stream")),
  ).rejects.toMatchObject({
    reason: "media_rejected",
    violations: [{ code: "media_type_unsupported", found: "application/pdf" }],
  });
});

test.each([
  ["sound-only.mp4", "audio/mp4"],
  ["sound-only.webm", "audio/webm"],
])(
  "CompleteUpload says that %s has only sound, and not that it is damaged",
  async (name, found) => {
    const sound = await readFile(new URL(`./videos/${name}`, import.meta.url));
    await expect(
      service.complete(await uploaded(sound, "application/octet-stream")),
    ).rejects.toMatchObject({ violations: [{ code: "media_type_unsupported", found }] });
  },
);

test("CompleteUpload refuses an image that was declared as application/octet-stream if it is larger than images may be", async () => {
  const body = Buffer.concat([await png(), Buffer.alloc(20_000_000)]);
  const grant = await uploaded(body, "application/octet-stream");

  await expect(service.complete(grant)).rejects.toMatchObject({
    violations: [{ code: "media_too_large", limit: 20_000_000, actual: body.length }],
  });
});

test("CompleteUpload leaves one audit entry when the check ends, and none for a request that is refused or repeated", async () => {
  const body = await png();
  const grant = await createGrant(service, body.length);
  const entries = () => service.sql`
    select actor_id
    from audit_log_deeds
    where subject_id = ${grant.id}
    and action = 'media.complete_upload'`;
  const complete = () => asClient(() => service.complete(grant));
  await expect(complete()).rejects.toMatchObject({ reason: "media_not_uploaded" });
  expect(await entries()).toEqual([]);
  await upload(service, grant, body);
  await complete();
  await complete();
  expect(await entries()).toEqual([{ actorId: BY_CLIENT.actor[1] }]);
});
