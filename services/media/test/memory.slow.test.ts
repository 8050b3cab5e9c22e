import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { noise } from "./media-fixture.ts";
import { startStage } from "./media-process.ts";
import { sampleHeif } from "./sample-heif.ts";
import { createGrant, upload, uploadChunked } from "./upload-client.ts";

const MB = 1_000_000;
const BYTES = 256 * MB;

/** Peak resident memory of a process in bytes. */
function peakMemory(pid: number): number {
  const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1]) * 1024;
}

function* flood(total: number): Generator<Buffer> {
  const block = noise(MB);
  for (let sent = 0; sent < total; sent += block.length) yield block;
}

test("an upload of 256 MB and its check increase the memory of the media service by less than half of its size", async () => {
  await using stage = await startStage();
  await stage.start();
  const grants = [
    await createGrant(stage, MB, { contentType: "video/mp4" }),
    await createGrant(stage, BYTES, { contentType: "video/mp4" }),
  ] as const;
  expect(await uploadChunked(stage, grants[0], flood(MB))).toEqual({ status: 204 });
  const before = peakMemory(stage.pid());

  expect(await uploadChunked(stage, grants[1], flood(BYTES))).toEqual({ status: 204 });
  const { workspaceId, id } = grants[1];
  await expect(stage.media.completeUpload({ workspaceId, id })).rejects.toMatchObject({
    reason: "media_rejected",
  });

  expect(peakMemory(stage.pid()) - before).toBeLessThan(BYTES / 2);
});

test("the inspection of a HEIC of 12 megapixels and its renditions increase the memory of the media service by less than 100 MB", async () => {
  await using stage = await startStage();
  await stage.start();
  const body = sampleHeif({ columns: 8, rows: 6 });
  const grant = await createGrant(stage, body.length, { contentType: "image/heic" });
  const { workspaceId, id: mediaId } = grant;
  const before = peakMemory(stage.pid());

  expect(await upload(stage, grant, body)).toEqual({ status: 204 });
  await stage.media.completeUpload({ workspaceId, id: mediaId });
  const items = [4096, 2048, 1024].map((width) => ({
    workspaceId,
    mediaId,
    rendition: {
      contentType: "image/jpeg",
      width,
      height: (width * 3) / 4,
      fit: "scale",
      maxBytes: 8_000_000n,
    },
  }));
  const { files } = await stage.mediaForDelivery.prepareMedia({ items });

  expect(files.map(({ width, refusal }) => ({ width, refusal }))).toEqual(
    [4096, 2048, 1024].map((width) => ({ width, refusal: "" })),
  );
  const after = peakMemory(stage.pid());
  expect(after - before).toBeLessThan(100 * MB);
  expect(after).toBeLessThan(400 * MB);
});
