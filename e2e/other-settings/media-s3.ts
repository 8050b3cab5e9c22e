import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { samplePng } from "@postrider/local/demo/sample-media";
import type { EmbeddedS3 } from "@postrider/local/s3/s3";
import { eventually } from "@postrider/shared/testing/poll";
import { beforeAll, expect, test } from "vitest";
import { presign, type File, type Grant, type ReadyMedia } from "../support/requests/media.ts";
import { create, refusalOf, whenTargets } from "../support/requests/posts.ts";
import { fetchMedia } from "../support/requests/stored-media.ts";
import type { System } from "../support/system/system.ts";

const PNG: File = { fileName: "picture.png", contentType: "image/png", bytes: samplePng() };

let s3: EmbeddedS3;
let system: System;

const complete = ({ id }: Grant) => system.api.call<ReadyMedia>("POST", `/media/${id}/complete`);

/**
 * Uploads the bytes to the upload address of the grant with a plain PUT request, as a browser does.
 */
async function put({ uploadUrl }: Grant, bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  const headers = { "content-type": PNG.contentType };
  const answer = await fetch(uploadUrl, { method: "PUT", body: bytes, headers });
  await answer.text();
  return answer.status;
}

async function granted(): Promise<Grant> {
  const grant = await presign(system.api, PNG);
  expect(new URL(grant.uploadUrl).origin).toBe(s3.settings.S3_ENDPOINT);
  return grant;
}

/**
 * Deletes a media file that no post uses, and waits until its bytes are removed from the bucket.
 */
async function remove(media: ReadyMedia, before: readonly string[]): Promise<void> {
  expect((await system.api.call("DELETE", `/media/${media.id}`)).status).toBe(202);
  expect(await fetchMedia(media)).toBe(404);
  await eventually(async () => expect(await listKeys()).toEqual(before));
}

/** Lists the keys of all objects in the S3 bucket. */
async function listKeys(): Promise<readonly string[]> {
  const bucket = join(s3.dataDir, "buckets", s3.bucket);
  const lists = await Promise.all(
    ["uploads", "objects"].map((folder) =>
      readdir(join(bucket, folder), { recursive: true, withFileTypes: true }).catch(() => []),
    ),
  );
  return lists
    .flat()
    .flatMap((entry) =>
      entry.isFile() ? [relative(bucket, join(entry.parentPath, entry.name))] : [],
    );
}

/** Tests media in an S3 bucket, and kills the media service. */
export function testMediaInS3(
  given: () => { readonly s3: EmbeddedS3; readonly system: System },
): void {
  beforeAll(() => {
    ({ s3, system } = given());
  });

  test("a file that a client uploads directly to S3 is published byte for byte, and a later write to the file's upload address has no effect", async () => {
    const grant = await granted();
    expect(await put(grant, PNG.bytes)).toBe(200);
    const { status, body: media } = await complete(grant);
    expect([status, media.status]).toEqual([200, "ready"]);
    expect(await fetchMedia(media)).toBe("whole");

    const other = new Uint8Array(PNG.bytes.length);
    expect(await put(grant, other)).toBe(200);
    expect((await complete(grant)).body.sha256).toBe(media.sha256);
    expect(await fetchMedia(media)).toBe("whole");

    const [account] = await system.connect("x", 1);
    const content = "From a bucket";
    const body = { content, accountIds: [account], mediaIds: [media.id] };
    const post = await create(system.api, body);
    await whenTargets(system.api, post.id, "published");
    const visible = await system.simulator.visible("x");
    expect(visible.filter(({ text }) => text === content)).toMatchObject([
      { media: [{ kind: "image", sha256: media.sha256 }] },
    ]);
    // Waits until the job remove-orphans has deleted the object that the client wrote again after
    // its upload was complete.
    await eventually(async () => expect(await listKeys()).toEqual([`objects/${grant.id}`]));

    expect(refusalOf(await system.api.call("DELETE", `/media/${media.id}`))).toBe(
      "409 media_in_use used_by_post",
    );
  });

  test("the gateway stores an upload in the S3 bucket when the client sends the upload token in the Authorization header", async () => {
    const before = await listKeys();
    const grant = await granted();
    const answer = await fetch(`${system.local().baseUrl}/uploads/${grant.uploadPath}`, {
      method: "PUT",
      body: PNG.bytes,
      headers: { authorization: `Bearer ${grant.uploadToken}` },
    });
    expect(answer.status).toBe(204);
    const { body: media } = await complete(grant);
    expect(await fetchMedia(media)).toBe("whole");
    const part = await fetch(media.url, { headers: { range: "bytes=10-19" } });
    const bytes = Buffer.from(await part.arrayBuffer());
    expect([part.status, bytes.equals(PNG.bytes.subarray(10, 20))]).toEqual([206, true]);
    await remove(media, before);
  });

  test("S3 refuses an upload whose length differs from the declared length, and the media file then still counts as not uploaded", async () => {
    const grant = await granted();
    expect(await put(grant, PNG.bytes.slice(1))).toBe(403);
    expect(refusalOf(await complete(grant))).toBe("409 media_not_uploaded");
    expect((await system.api.call("DELETE", `/media/${grant.id}`)).status).toBe(204);
  });

  test.each(["media.upload-named", "media.upload-pinned", "media.checked"])(
    "after the media service is killed at the failpoint %s, a repeated request to complete an upload in S3 makes the media file ready",
    async (point) => {
      const [before, keys] = [system.pids("media"), await listKeys()];
      const grant = await granted();
      expect(await put(grant, PNG.bytes)).toBe(200);
      system.armFailpoint(point, "kill");
      const { body: media } = await eventually(async () => {
        const answer = await complete(grant);
        return answer.status === 200 && answer;
      });
      expect(system.pids("media")).not.toEqual(before);
      expect(await fetchMedia(media)).toBe("whole");
      await remove(media, keys);
    },
  );
}
