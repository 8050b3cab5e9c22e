import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { sampleMp4, samplePng } from "@postrider/local/demo/sample-media";
import { listen } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, describe, expect, test } from "vitest";
import {
  cutUpload,
  presign,
  upload,
  type File,
  type ReadyMedia,
} from "./support/requests/media.ts";
import { create, HOUR_MS, inMs, refusalOf, type PostDetail } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { UPLOAD_ORIGIN } from "./support/system/shared-stack.ts";
import { useSharedSystem } from "./support/system/system.ts";

const PNG: File = { fileName: "고양이.png", contentType: "image/png", bytes: samplePng() };
const VIDEO: File = { fileName: "video.mp4", contentType: "video/mp4", bytes: sampleMp4() };

/** A file server outside of the system, from which the tests import media. */
const server = createServer((request, response) => {
  if (request.url === "/video.mp4") response.writeHead(200).end(VIDEO.bytes);
  else if (request.url === "/page.png") response.writeHead(200).end("<html></html>");
  else if (request.url === "/loop") response.writeHead(302, { location: "/loop" }).end();
  else response.writeHead(404).end();
});
const system = await useSharedSystem();
const { url: fileUrl, ...fileServer } = await listen(server, system.outsidePort);
const tenant = await openTenant(system);
const bluesky = await tenant.connect("bluesky");
afterAll(() => fileServer[Symbol.asyncDispose]());

const call = <T = ReadyMedia>(method: string, path: string, options = {}) =>
  tenant.api.call<T>(method, path, options);
const fromUrl = (path: string, headers = {}) =>
  call("POST", "/media/from-url", { body: { url: fileUrl + path }, headers });
const put = (url: string, init: RequestInit) => fetch(url, { method: "PUT", ...init });
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function refusal(answer: Response): Promise<string> {
  const { error } = (await answer.json()) as { error: { code: string } };
  return `${answer.status} ${error.code}`;
}

describe("uploaded files:", () => {
  test.each([
    ["a picture", PNG, { kind: "image", contentType: "image/png", durationMs: null }],
    ["a video", VIDEO, { kind: "video", contentType: "video/mp4" }],
  ])(
    "the media service detects the type of an uploaded file (%s) from its bytes, and serves the file whole and in ranges",
    async (_, file, found) => {
      const media = await upload(tenant.api, file);
      expect(media).toMatchObject({
        ...found,
        status: "ready",
        bytes: file.bytes.length,
        sha256: sha256(file.bytes),
        fileName: file.fileName,
      });
      const whole = await fetch(media.url);
      expect([whole.status, whole.headers.get("content-type")]).toEqual([200, file.contentType]);
      expect(Buffer.from(await whole.arrayBuffer()).equals(file.bytes)).toBe(true);
      const part = await fetch(media.url, { headers: { range: "bytes=10-19" } });
      expect([part.status, part.headers.get("content-range")]).toEqual([
        206,
        `bytes 10-19/${file.bytes.length}`,
      ]);
      expect(Buffer.from(await part.arrayBuffer()).equals(file.bytes.subarray(10, 20))).toBe(true);
      const head = await fetch(media.url, { method: "HEAD" });
      expect(head.headers.get("content-length")).toBe(String(file.bytes.length));
      const etag = head.headers.get("etag") ?? "";
      const again = await fetch(media.url, { headers: { "if-none-match": etag } });
      expect(again.status).toBe(304);
    },
  );

  test("a media file cannot be deleted while a post or a draft uses it", async () => {
    const media = await upload(tenant.api, PNG);
    const post = await create(tenant.api, {
      content: "With a picture",
      accountIds: [bluesky],
      mediaIds: [media.id],
      isDraft: true,
    });
    const shown = await call<PostDetail & { media: ReadyMedia[] }>("GET", `/posts/${post.id}`);
    expect(shown.body.media).toMatchObject([{ id: media.id, sha256: media.sha256 }]);
    expect((await fetch(shown.body.media[0]?.url ?? "")).status).toBe(200);
    expect(refusalOf(await call("DELETE", `/media/${media.id}`))).toBe(
      "409 media_in_use used_by_post",
    );
    expect((await call("DELETE", `/posts/${post.id}`)).status).toBe(204);
    const deleted = await call("DELETE", `/media/${media.id}`);
    expect([deleted.status, deleted.body]).toEqual([202, { id: media.id, status: "deleting" }]);
    expect(await refusal(await fetch(media.url))).toBe("404 not_found");
    await eventually(async () =>
      expect(refusalOf(await call("DELETE", `/media/${media.id}`))).toBe("404 not_found"),
    );
  });

  test("concurrent requests to complete an upload complete it once and get the same answer", async () => {
    const grant = await presign(tenant.api, VIDEO);
    await put(grant.uploadUrl, { body: VIDEO.bytes });
    const path = `/media/${grant.id}/complete`;
    const answers = await Promise.all(Array.from({ length: 5 }, () => call("POST", path)));
    answers.push(await call("POST", path));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const records = answers.map(({ body }) => JSON.stringify({ ...body, url: "" }));
    expect(new Set(records).size).toBe(1);
  });
});

describe("uploads:", () => {
  test("an upload token may be sent in the Authorization header and is valid for one upload only", async () => {
    const { uploadPath, uploadToken, uploadUrl, id } = await presign(tenant.api, PNG);
    const url = `${system.local().baseUrl}/uploads/${uploadPath}`;
    const headers = { authorization: `Bearer ${uploadToken}`, "content-type": "image/png" };
    expect((await put(url, { body: PNG.bytes, headers })).status).toBe(204);
    for (const address of [url, uploadUrl])
      expect(await refusal(await put(address, { body: PNG.bytes, headers }))).toBe(
        "409 upload_already_received",
      );
    expect((await call("POST", `/media/${id}/complete`)).status).toBe(200);
  });

  test("an upload whose connection broke can be repeated", async () => {
    const grant = await presign(tenant.api, VIDEO);
    await cutUpload(grant, VIDEO);
    expect(refusalOf(await call("POST", `/media/${grant.id}/complete`))).toBe(
      "409 media_not_uploaded",
    );
    expect((await put(grant.uploadUrl, { body: VIDEO.bytes })).status).toBe(204);
    const { status, body } = await call("POST", `/media/${grant.id}/complete`);
    expect([status, body.sha256]).toEqual([200, sha256(VIDEO.bytes)]);
  });

  test("CORS allows an upload from a web page of a configured origin", async () => {
    const { uploadUrl } = await presign(tenant.api, PNG);
    const headers = { origin: UPLOAD_ORIGIN, "access-control-request-method": "PUT" };
    const preflight = await fetch(uploadUrl, { method: "OPTIONS", headers });
    expect(preflight.headers.get("access-control-allow-origin")).toBe(UPLOAD_ORIGIN);
    const answer = await put(uploadUrl, { body: PNG.bytes, headers: { origin: UPLOAD_ORIGIN } });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
      204,
      UPLOAD_ORIGIN,
    ]);
  });
});

describe("files that are not accepted:", () => {
  test("completing the upload of a file that is not an image or a video rejects the file permanently, and the rejected file can be deleted at once", async () => {
    const bytes = new TextEncoder().encode("<html><script>alert(1)</script></html>");
    const grant = await presign(tenant.api, { ...PNG, bytes });
    expect((await put(grant.uploadUrl, { body: bytes })).status).toBe(204);
    for (let times = 0; times < 2; times++)
      expect(refusalOf(await call("POST", `/media/${grant.id}/complete`))).toMatch(
        /^422 media_rejected/,
      );
    expect((await call("DELETE", `/media/${grant.id}`)).status).toBe(204);
    expect(refusalOf(await call("POST", `/media/${grant.id}/complete`))).toBe("404 not_found");
  });

  test("a post cannot use a media file whose upload is not complete", async () => {
    const { id } = await presign(tenant.api, PNG);
    const answer = await call("POST", "/posts", {
      body: { content: "Early", accountIds: [bluesky], mediaIds: [id] },
    });
    expect(refusalOf(answer)).toBe("422 validation_failed media_not_ready");
    expect((await call("DELETE", `/media/${id}`)).status).toBe(204);
  });
});

describe("imports:", () => {
  test("a media import that is repeated with its idempotency key returns the same media file with a new signed URL", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const first = await fromUrl("/video.mp4", headers);
    expect([first.status, first.body]).toMatchObject([
      201,
      { fileName: "video.mp4", contentType: "video/mp4", sha256: sha256(VIDEO.bytes) },
    ]);
    const again = await fromUrl("/video.mp4", headers);
    expect([again.status, again.body.id, again.headers.get("idempotent-replayed")]).toEqual([
      201,
      first.body.id,
      "true",
    ]);
    expect((await fetch(again.body.url)).status).toBe(200);
    expect((await fromUrl("/video.mp4")).body.id).not.toBe(first.body.id);
    expect(refusalOf(await fromUrl("/other.mp4", headers))).toBe("422 idempotency_key_reused");
  });

  test.each([
    ["/missing.png", "422 import_failed download_refused"],
    ["/loop", "422 import_failed download_broken"],
    ["/page.png", "422 media_rejected download_not_media"],
  ])("a media import from a URL with the path %s is refused with %s", async (path, expected) => {
    expect(refusalOf(await fromUrl(path))).toBe(expected);
  });
});

test("the media file of a scheduled post can be replaced, and the old file can be deleted", async () => {
  const [old, fresh] = [await upload(tenant.api, PNG), await upload(tenant.api, PNG)];
  const post = await create(tenant.api, {
    content: "Exchanged",
    accountIds: [bluesky],
    mediaIds: [old.id],
    scheduledAt: inMs(HOUR_MS),
  });
  const edited = await call<PostDetail>("PATCH", `/posts/${post.id}`, {
    body: { mediaIds: [fresh.id] },
  });
  expect(edited.status).toBe(200);
  expect(refusalOf(await call("DELETE", `/media/${fresh.id}`))).toBe(
    "409 media_in_use used_by_post",
  );
  expect((await call("DELETE", `/media/${old.id}`)).status).toBe(202);
});
