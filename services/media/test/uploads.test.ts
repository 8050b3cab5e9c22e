import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createIdentitySource } from "@postrider/shared/identity/token-source";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { identities, noise, png, startMedia, type TestMedia } from "./media-fixture.ts";
import { createGrant, openUpload, upload, uploadChunked, type Grant } from "./upload-client.ts";

const service = await startMedia();
afterAll(() => service[Symbol.asyncDispose]());

const digest = (algorithm: string, body: Buffer): string =>
  createHash(algorithm).update(body).digest("base64");

/** Reads the stored object of media; undefined when the media have no object. */
async function storedOf(id: string): Promise<Buffer | undefined> {
  const [row] = await service.sql<{ objectKey: string | null }[]>`
    select object_key from media where id = ${id}`;
  const key = row?.objectKey ?? undefined;
  const object = key === undefined ? undefined : await service.store.open(key);
  return object === undefined ? undefined : Buffer.concat(await Array.fromAsync(object.content));
}

/** Returns the number of uploads whose bytes the disk store is writing. */
async function countUnfinished(): Promise<number> {
  return (await readdir(join(service.folder, "objects", ".unfinished"))).length;
}

test("CreateUpload accepts only supported types up to their maximum length", async () => {
  const ask = (contentType: string, bytes: number) => createGrant(service, bytes, { contentType });

  await expect(ask("image/svg+xml", 10)).rejects.toMatchObject({
    kind: "unprocessable",
    reason: "media_rejected",
    violations: [{ code: "media_type_unsupported", path: "/contentType" }],
  });
  await expect(ask("image/png", 20_000_001)).rejects.toMatchObject({
    reason: "media_rejected",
    violations: [{ code: "media_too_large", limit: 20_000_000, actual: 20_000_001 }],
  });
  await expect(ask("video/mp4", 1_000_000_001)).rejects.toMatchObject({
    reason: "media_rejected",
  });
  await expect(ask("image/png", 0)).rejects.toMatchObject({ reason: "invalid_request" });
  expect((await ask("IMAGE/PNG", 20_000_000)).uploadUrl).toBeUndefined();
  expect(await ask("video/webm", 1_000_000_000)).toBeDefined();
});

test("the database does not contain the token of an upload grant", async () => {
  const grant = await createGrant(service, 10);

  expect(grant.uploadToken).toMatch(/^[\w-]{43}$/);
  const [row] = await service.sql<{ text: string }[]>`
      select upload_grants::text || media::text as text
      from upload_grants join media on id = media_id
      where id = ${grant.id}`;
  expect(row?.text).toContain(grant.id);
  expect(row?.text).not.toContain(grant.uploadToken);
  expect(row?.text).not.toContain(Buffer.from(grant.uploadToken).toString("hex"));
});

test("PUT /uploads stores the body with and without Content-Type and Content-Length", async () => {
  const body = noise(200_000);
  const bare = await createGrant(service, body.length);
  const typed = await createGrant(service, body.length);
  const chunked = await createGrant(service, body.length);

  expect(await upload(service, bare, body)).toEqual({ status: 204 });
  expect(await upload(service, typed, body, { "content-type": "Image/PNG" })).toEqual({
    status: 204,
  });
  const parts = [body.subarray(0, 7), body.subarray(7, 70_000), body.subarray(70_000)];
  expect(await uploadChunked(service, chunked, parts)).toEqual({ status: 204 });

  for (const { id } of [bare, typed, chunked]) expect(await storedOf(id)).toEqual(body);
});

test("PUT /uploads refuses a Content-Type that differs from the declared type, and the upload grant can still be used", async () => {
  const body = noise(100);
  const grant = await createGrant(service, body.length);

  for (const [type, found] of [
    ["image/jpeg", "image/jpeg"],
    ["image/pjpeg", "image/jpeg"],
    ["multipart/form-data; boundary=x", "multipart/form-data"],
    ["application/x-www-form-urlencoded", "application/x-www-form-urlencoded"],
  ] as const)
    expect(await upload(service, grant, body, { "content-type": type })).toMatchObject({
      reason: "unsupported_media_type",
      details: [{ code: "upload_type_differs", found, allowed: ["image/png"] }],
    });
  const parameter = { "content-type": "image/png; charset=binary" };
  expect(await upload(service, grant, body, parameter)).toEqual({ status: 204 });
});

test("PUT /uploads refuses a body with a wrong Content-Digest, and the upload grant can still be used", async () => {
  const body = noise(100_000);
  const grant = await createGrant(service, body.length);
  const put = (header: string) => upload(service, grant, body, { "content-digest": header });

  const wrong = `sha-256=:${digest("sha256", noise(1))}:`;
  for (const header of [wrong, `sha-512=:${digest("sha512", noise(1))}:`, "sha-256=abc"])
    expect(await put(header)).toMatchObject({
      status: 400,
      reason: "invalid_request",
      details: [{ code: "invalid_header" }],
    });

  expect(await put(`sha-512=:${digest("sha512", body)}:, ${wrong}`)).toMatchObject({
    status: 400,
  });
  expect(await storedOf(grant.id)).toBeUndefined();
  expect(
    await put(`sha-256=:${digest("sha256", body)}:, sha-512=:${digest("sha512", body)}:`),
  ).toEqual({ status: 204 });
});

test("PUT /uploads refuses a body that is too short, and the upload grant can still be used", async () => {
  const body = noise(100);
  const grant = await createGrant(service, body.length);
  const refused = {
    reason: "invalid_request",
    details: [{ code: "media_length_mismatch", limit: 100, actual: 99 }],
  };

  expect(await upload(service, grant, body.subarray(1))).toMatchObject(refused);
  expect(await uploadChunked(service, grant, [body.subarray(1)])).toMatchObject(refused);
  expect(await upload(service, grant, body)).toEqual({ status: 204 });
});

test("PUT /uploads rejects an empty body, and the upload grant can still be used", async () => {
  const body = noise(100);
  const grant = await createGrant(service, body.length);
  const rejected = { reason: "media_rejected" };

  expect(await upload(service, grant, Buffer.alloc(0))).toMatchObject(rejected);
  expect(await uploadChunked(service, grant, [])).toMatchObject(rejected);
  expect(await upload(service, grant, body)).toEqual({ status: 204 });
});

test("PUT /uploads refuses a body that is too long without reading all of it, and stores nothing", async () => {
  const before = await service.listStored();
  const grant = await createGrant(service, 100);
  const long = { reason: "payload_too_large", details: [{ limit: 100, actual: 101 }] };

  expect(await upload(service, grant, noise(101))).toMatchObject(long);
  let sent = 0;
  const endless = async function* (): AsyncGenerator<Buffer> {
    for (; sent < 2_000; sent += 1) yield noise(65_536);
  };
  expect(await uploadChunked(service, grant, endless())).toMatchObject({
    reason: "payload_too_large",
  });
  expect(sent).toBeLessThan(2_000);

  await eventually(async () => expect(await service.listStored()).toEqual(before));
  expect(await upload(service, grant, noise(100))).toEqual({ status: 204 });
});

test("an interrupted upload stores nothing and can be repeated", async () => {
  const before = await service.listStored();
  const body = noise(300_000);
  const grant = await createGrant(service, body.length);
  for (const headers of [{ "content-length": body.length }, { "transfer-encoding": "chunked" }]) {
    const cut = openUpload(service.url, grant.uploadPath, {
      "x-upload-token": grant.uploadToken,
      ...headers,
    });
    cut.on("error", () => {});
    cut.write(body.subarray(0, 200_000));
    await eventually(() => cut.writableLength === 0);
    cut.destroy();
  }

  // The media service notices a moment later that the connections of the uploads are lost; until
  // then the upload grant is in use.
  await eventually(async () => expect(await upload(service, grant, body)).toEqual({ status: 204 }));
  await eventually(async () => expect(await service.listStored()).toHaveLength(before.length + 1));
  expect(await storedOf(grant.id)).toEqual(body);
});

test("PUT /uploads refuses a second upload for the same upload grant", async () => {
  const body = await png();
  const grant = await createGrant(service, body.length);
  await upload(service, grant, body);

  const again = { status: 400, reason: "upload_already_received" };
  expect(await upload(service, grant, body)).toMatchObject(again);
  expect(await upload(service, grant, noise(50))).toMatchObject(again);
  await service.complete(grant);
  expect(await upload(service, grant, body)).toMatchObject(again);
  expect(await storedOf(grant.id)).toEqual(body);
});

test("PUT /uploads returns not_found for a request without the token of the upload grant", async () => {
  const body = noise(100);
  const [mine, other] = [await createGrant(service, 100), await createGrant(service, 100)];
  const missing = { reason: "not_found" };
  const withToken = (uploadToken: string) =>
    upload(service, { uploadPath: mine.uploadPath, uploadToken }, body);

  expect(await withToken(other.uploadToken)).toMatchObject(missing);
  expect(await withToken("")).toMatchObject(missing);
  expect(await withToken("A".repeat(43))).toMatchObject(missing);
  const path = { ...mine, uploadPath: newId() };
  expect(await upload(service, path, body)).toMatchObject(missing);
  expect(await upload(service, { ...mine, uploadPath: "no-id" }, body)).toMatchObject(missing);
  expect(await upload(service, { ...mine, uploadPath: "..%2f" }, body)).toMatchObject(missing);
  const noToken = openUpload(service.url, mine.uploadPath, { "content-length": 0 });
  noToken.end();
  const [response] = await once(noToken, "response");
  expect(response).toMatchObject({ statusCode: 404 });
  expect(await storedOf(mine.id)).toBeUndefined();
});

test("PUT /uploads returns not_found for an expired upload grant", async () => {
  const grant = await createGrant(service, 100);
  await service.sql`
      update upload_grants set expires_at = now() - interval '1 second' where media_id = ${grant.id}`;

  expect(await upload(service, grant, noise(100))).toMatchObject({ reason: "not_found" });
});

test("PUT /uploads of the media service refuses a request without a service identity and a request of the delivery service", async () => {
  const grant = await createGrant(service, 100);
  const unauthenticated = { "x-identity": "x".repeat(32) };
  const delivery = await createIdentitySource(identities.of("delivery"), "media")();

  expect(await upload(service, grant, noise(100), unauthenticated)).toMatchObject({ status: 401 });
  expect(await upload(service, grant, noise(100), { ...delivery })).toMatchObject({ status: 403 });
});

test("exactly one of four concurrent uploads for one upload grant to two replicas is stored", async () => {
  await using other = await service.startReplica();
  for (let round = 0; round < 10; round += 1) {
    const before = await service.listStored();
    const grant = await createGrant(service, 50_000);
    const bodies = Array.from({ length: 4 }, () => noise(50_000));

    const answers = await Promise.all(
      bodies.map((body, index) => upload(index % 2 === 0 ? service : other, grant, body)),
    );

    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 204);
    for (const answer of others)
      expect(["upload_already_received", "unavailable"]).toContain(answer.reason);
    expect(await storedOf(grant.id)).toEqual(bodies[statuses.indexOf(204)]);
    expect(await service.listStored()).toHaveLength(before.length + 1);
  }
});

test("an upload that began in time is stored although its upload grant expires while its bytes arrive", async () => {
  const body = noise(100_000);
  const grant = await createGrant(service, body.length);
  const outgoing = openUpload(service.url, grant.uploadPath, {
    "x-upload-token": grant.uploadToken,
    "content-length": body.length,
  });
  const before = await countUnfinished();
  outgoing.write(body.subarray(0, 50_000));
  await eventually(async () => (await countUnfinished()) > before);
  await service.sql`
    update upload_grants set expires_at = now() - interval '20 hours' where media_id = ${grant.id}`;
  await service.removeForgottenUploads(86_400_000);
  outgoing.end(body.subarray(50_000));

  const [response] = await once(outgoing, "response");
  expect(response).toMatchObject({ statusCode: 204 });
  expect(await storedOf(grant.id)).toEqual(body);
});

/** Starts an upload whose bytes never end. */
async function startUpload(
  { url }: Pick<TestMedia, "url">,
  { uploadPath, uploadToken }: Grant,
): Promise<ReturnType<typeof openUpload>> {
  const outgoing = openUpload(url, uploadPath, {
    "x-upload-token": uploadToken,
    "content-length": 100,
  });
  outgoing.on("error", () => undefined);
  outgoing.write("a");
  await eventually(() => outgoing.writableLength === 0);
  return outgoing;
}

test("uploads of one workspace take at most half of the media service's permits for concurrent uploads", async () => {
  await using small = await service.startReplica({ maxTransfers: 4 });
  const workspaceId = newId();
  const before = (await service.listStored()).length;
  const grants = await Promise.all([1, 2, 3].map(() => createGrant(service, 100, { workspaceId })));
  const [first, second, third] = grants as [Grant, Grant, Grant];
  const running = [await startUpload(small, first), await startUpload(small, second)];
  await eventually(async () => (await countUnfinished()) === 2);

  expect(await upload(small, third, noise(100))).toMatchObject({
    status: 503,
    reason: "unavailable",
  });
  expect(await upload(small, first, noise(100))).toMatchObject({ reason: "unavailable" });
  const other = await createGrant(service, 100);
  expect(await upload(small, other, noise(100))).toEqual({ status: 204 });
  for (const outgoing of running) outgoing.destroy();
  await eventually(async () => (await countUnfinished()) === 0);
  expect(await upload(small, first, noise(100))).toEqual({ status: 204 });
  expect(await service.listStored()).toHaveLength(before + 2);
});

test("an upload stores nothing when its media are deleted during the upload", async () => {
  const before = await service.listStored();
  const grant = await createGrant(service, 100_000);
  const body = noise(100_000);
  const outgoing = openUpload(service.url, grant.uploadPath, {
    "x-upload-token": grant.uploadToken,
    "content-length": body.length,
  });
  outgoing.write(body.subarray(0, 50_000));
  await eventually(() => outgoing.writableLength === 0);
  expect(
    await service.media.deleteMedia({ workspaceId: grant.workspaceId, id: grant.id }),
  ).toMatchObject({ gone: true });
  outgoing.end(body.subarray(50_000));

  const [response] = await once(outgoing, "response");
  expect(response).toMatchObject({ statusCode: 404 });
  expect(await service.listStored()).toEqual(before);
});
