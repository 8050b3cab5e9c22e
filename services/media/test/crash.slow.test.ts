import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { noise, png } from "./media-fixture.ts";
import { startStage } from "./media-process.ts";
import { createGrant, openUpload, upload, type Grant } from "./upload-client.ts";

const stage = await startStage();
await stage.start();
afterAll(() => stage[Symbol.asyncDispose]());

const ref = ({ workspaceId, id }: Grant) => ({ workspaceId, id });

async function statusOf(grant: Grant): Promise<string | undefined> {
  const { media } = await stage.media.batchGetMedia({
    workspaceId: grant.workspaceId,
    ids: [grant.id],
  });
  return media[0]?.status;
}

async function uploaded(body: Buffer): Promise<Grant> {
  const grant = await createGrant(stage, body.length);
  expect(await upload(stage, grant, body)).toEqual({ status: 204 });
  return grant;
}

/** Counts the objects of the object store that rows of media name. */
async function countNamed(): Promise<number> {
  const [row] = await stage.sql<{ count: number }[]>`
    select (
      (select count(object_key) + count(delivery_key) from media)
      + (select count(object_key) from media_renditions)
    )::int as count`;
  return row?.count ?? 0;
}

/**
 * Runs the jobs of the media service once, and then expects that the object store contains exactly
 * the objects that rows of media name.
 */
async function expectTidy(): Promise<void> {
  await stage.runJobs();
  // The jobs of the restarted media service run at the same time. Such a job may have deleted a
  // file, but not yet its row.
  await eventually(async () => (await stage.listFiles()).length === (await countNamed()));
}

async function countEvents(grant: Grant): Promise<number> {
  const [row] = await stage.sql<{ count: number }[]>`
    select
      (select count(*) from outbox where key = ${grant.id})::int
      + (select count(*) from bus.records where key = ${grant.id})::int
      as count`;
  return row?.count ?? 0;
}

test("a media service that is killed during an upload leaves the upload grant unused and leaves no file", async () => {
  const body = noise(500_000);
  const grant = await createGrant(stage, body.length);
  const cut = openUpload(stage.url, grant.uploadPath, {
    "x-upload-token": grant.uploadToken,
    "content-length": body.length,
  });
  cut.on("error", () => {});
  cut.write(body.subarray(0, 300_000));
  await eventually(async () => (await stage.listFiles()).length > (await countNamed()));

  await stage.kill();
  await stage.start();

  await expect(stage.media.completeUpload(ref(grant))).rejects.toMatchObject({
    reason: "media_not_uploaded",
  });
  await expectTidy();
  expect(await upload(stage, grant, body)).toEqual({ status: 204 });
});

test("a media service that is killed after it stored an upload, but before it marked the upload grant as used, leaves the grant unused", async () => {
  const body = await png();
  const grant = await createGrant(stage, body.length);
  await stage.killAt("media.upload-stored");
  await expect(upload(stage, grant, body)).rejects.toMatchObject({ code: "ECONNRESET" });
  await stage.revive();

  await expect(stage.media.completeUpload(ref(grant))).rejects.toMatchObject({
    reason: "media_not_uploaded",
  });
  await expectTidy();
  expect(await upload(stage, grant, body)).toEqual({ status: 204 });
  expect(await stage.media.completeUpload(ref(grant))).toMatchObject({
    media: { status: "ready" },
  });
  await expectTidy();
});

test.each(["media.upload-pinned", "media.checked"])(
  "a media service that is killed at the failpoint %s of an upload check leaves the media pending, and another check completes them",
  async (point) => {
    const grant = await uploaded(await png());
    await stage.killAt(point);
    await expect(stage.media.completeUpload(ref(grant))).rejects.toMatchObject({
      kind: "unavailable",
    });
    await stage.revive();

    expect(await statusOf(grant)).toBe("pending");
    await expectTidy();
    await stage.sql`update media set lease_until = now() where id = ${grant.id}`;
    expect(await stage.media.completeUpload(ref(grant))).toMatchObject({
      media: { status: "ready" },
    });
    expect(await countEvents(grant)).toBe(1);
    await expectTidy();
  },
);

test("when the media service is killed after it committed the result of an upload check, the media are ready and one event is published", async () => {
  const grant = await uploaded(await png());
  await stage.killAt("media.ready-committed");
  await expect(stage.media.completeUpload(ref(grant))).rejects.toMatchObject({
    kind: "unavailable",
  });
  await stage.revive();

  expect(await statusOf(grant)).toBe("ready");
  expect(await stage.media.completeUpload(ref(grant))).toMatchObject({
    media: { status: "ready" },
  });
  expect(await countEvents(grant)).toBe(1);
  await expectTidy();
});

test("a job deletes the object of a rejected upload when the media service was killed after it committed the rejection", async () => {
  const grant = await uploaded(noise(1000));
  await stage.killAt("media.rejected");
  await expect(stage.media.completeUpload(ref(grant))).rejects.toMatchObject({
    kind: "unavailable",
  });
  await stage.revive();

  await expect(stage.media.completeUpload(ref(grant))).rejects.toMatchObject({
    reason: "media_rejected",
  });
  await expectTidy();
  await expect(stage.media.completeUpload(ref(grant))).rejects.toMatchObject({
    reason: "media_rejected",
  });
});

test("a media service killed while it deletes objects of deleted media keeps the media's rows, and the next attempt deletes them", async () => {
  const grant = await uploaded(await png());
  await stage.media.completeUpload(ref(grant));
  await stage.killAt("media.objects-removed");
  expect(await stage.media.deleteMedia(ref(grant))).toMatchObject({ gone: false });
  await stage.revive();

  expect(await statusOf(grant)).toBe("deleting");
  await stage.sql`update media set lease_until = now() where id = ${grant.id}`;
  await expectTidy();
  expect(await statusOf(grant)).toBeUndefined();
});

test("a job deletes the objects that remain when the media service is killed while it removes uploads that were never completed", async () => {
  const grant = await uploaded(await png());
  await stage.sql`update media set created_at = now() - interval '25 hours' where id = ${grant.id}`;
  // The job remove-forgotten-uploads runs once when the media service starts, so the test restarts
  // the service.
  await stage.kill();
  await stage.killAt("media.uploads-forgotten");
  stage.launch();
  await stage.revive();

  expect(await statusOf(grant)).toBeUndefined();
  await expectTidy();
});

test.each(["media.renditions-claimed", "media.renditions-stored"])(
  "a media service that is killed at the failpoint %s leaves no file, and makes the rendition when it is asked again",
  async (point) => {
    const grant = await uploaded(await png());
    await stage.media.completeUpload(ref(grant));
    const rendition = {
      contentType: "image/jpeg",
      width: 4,
      height: 4,
      fit: "scale",
      maxBytes: 100_000n,
    };
    const { workspaceId, id: mediaId } = grant;
    const prepare = () =>
      stage.mediaForDelivery.prepareMedia({ items: [{ workspaceId, mediaId, rendition }] });
    await stage.killAt(point);
    await expect(prepare()).rejects.toMatchObject({ kind: "unavailable" });
    await stage.revive();

    await expectTidy();
    await stage.sql`update media_renditions set lease_until = now() where media_id = ${mediaId}`;
    expect(await prepare()).toMatchObject({ files: [{ width: 4, refusal: "" }] });
    await expectTidy();
  },
);
