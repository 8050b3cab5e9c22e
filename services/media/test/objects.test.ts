import { createHash } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { insertReadyMedia } from "#src/db/media.ts";
import { noise, png, DELIVERY, GATEWAY, startMedia } from "./media-fixture.ts";
import { createGrant, upload, type Grant } from "./upload-client.ts";

const service = await startMedia();
afterAll(() => service[Symbol.asyncDispose]());

type Ref = Pick<Grant, "workspaceId" | "id">;

async function get(
  { workspaceId, id }: Ref,
  options: {
    readonly rendition?: string;
    readonly method?: string;
    readonly headers?: OutgoingHttpHeaders;
  } = {},
) {
  const { rendition = "original", method = "GET", headers = {} } = options;
  const outgoing = request(`${service.url}/objects/${workspaceId}/${id}?rendition=${rendition}`, {
    method,
    headers: { ...GATEWAY, ...headers },
  });
  outgoing.end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const body = Buffer.concat(await Array.fromAsync(response));
  return { status: response.statusCode, headers: response.headers, body };
}

async function ready(body: Buffer, contentType = "image/png"): Promise<Grant> {
  const grant = await createGrant(service, body.length, { contentType });
  await upload(service, grant, body);
  await service.complete(grant);
  return grant;
}

const sha256 = (body: Buffer): string => createHash("sha256").update(body).digest("hex");

test("GET and HEAD /objects return ready media with their type, length and hash", async () => {
  const body = await png();
  const grant = await ready(body);

  const whole = await get(grant);
  expect(whole).toMatchObject({
    status: 200,
    headers: {
      "content-type": "image/png",
      "content-length": String(body.length),
      "accept-ranges": "bytes",
      etag: `"${sha256(body)}"`,
    },
  });
  expect(whole.body).toEqual(body);
  const head = await get(grant, { method: "HEAD" });
  expect(head).toMatchObject({ status: 200, headers: { "content-length": String(body.length) } });
  expect(head.body).toHaveLength(0);
});

test("GET /objects answers a valid range with 206 and a range beyond the end with 416", async () => {
  const body = await png();
  const grant = await ready(body);
  const range = (text: string, headers = {}) =>
    get(grant, { headers: { range: text, ...headers } });

  const part = await range("bytes=10-19");
  expect(part).toMatchObject({
    status: 206,
    headers: { "content-range": `bytes 10-19/${body.length}`, "content-length": "10" },
  });
  expect(part.body).toEqual(body.subarray(10, 20));
  expect((await range("bytes=-5")).body).toEqual(body.subarray(-5));
  expect((await range(`bytes=20-${body.length + 100}`)).body).toEqual(body.subarray(20));
  expect(await range(`bytes=${body.length}-`)).toMatchObject({
    status: 416,
    headers: { "content-range": `bytes */${body.length}` },
  });
  expect(await range("bytes=0-1,4-5")).toMatchObject({ status: 200 });
  expect(await range("bytes=0-1", { "if-range": '"other"' })).toMatchObject({ status: 200 });
  expect(await range("bytes=0-1", { "if-range": `"${sha256(body)}"` })).toMatchObject({
    status: 206,
  });
  const head = await get(grant, { method: "HEAD", headers: { range: "bytes=0-1" } });
  expect(head).toMatchObject({ status: 206, headers: { "content-length": "2" } });
});

test("GET /objects returns not_found for media that are unknown, of another workspace or not ready", async () => {
  const body = await png();
  const grant = await ready(body);
  const pending = await createGrant(service, body.length);
  await upload(service, pending, body);
  const rejected = await createGrant(service, 100);
  await upload(service, rejected, noise(100));
  await service.complete(rejected).catch(() => undefined);
  const deleting = await ready(body);
  const { workspaceId, id } = deleting;
  expect(await service.media.deleteMedia({ workspaceId, id })).toMatchObject({ gone: false });

  const { id: mine } = grant;
  const absent = [
    { workspaceId: newId(), id: mine },
    { ...grant, id: newId() },
    { ...grant, id: "no-id" },
    { workspaceId: "no-id", id: mine },
    pending,
    rejected,
    deleting,
  ];
  for (const ref of absent) {
    expect(await get(ref)).toMatchObject({ status: 404 });
    expect(await get(ref, { rendition: "delivery" })).toMatchObject({ status: 404 });
  }
  expect(await get(grant, { rendition: "other" })).toMatchObject({ status: 400 });
  const unauthenticated = { "x-identity": "guess" };
  expect(await get(grant, { headers: unauthenticated })).toMatchObject({ status: 401 });
});

test("the image that platforms receive is upright and without metadata, and the uploaded image is unchanged", async () => {
  const body = await sharp({ create: { width: 40, height: 20, channels: 3, background: "red" } })
    .withExif({ IFD3: { GPSLatitude: "51/1 30/1 0/1" } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
  const grant = await ready(body, "image/jpeg");
  const media = await service.complete(grant);
  expect(media).toMatchObject({ width: 20, height: 40, sha256: sha256(body) });

  expect((await get(grant)).body).toEqual(body);
  const delivered = await get(grant, { rendition: "delivery" });
  expect(delivered.headers).toMatchObject({
    etag: `"${media.deliverySha256}"`,
    "content-type": media.deliveryContentType,
    "content-length": String(media.deliveryBytes),
  });
  expect(sha256(delivered.body)).toBe(media.deliverySha256);
  const seen = await sharp(delivered.body).metadata();
  expect([seen.width, seen.height, seen.exif, seen.orientation]).toEqual([
    20,
    40,
    undefined,
    undefined,
  ]);
});

test("the video that platforms receive has its metadata overwritten, both as a whole file and in ranges", async () => {
  const [workspaceId, id] = [newId(), newId()];
  const body = noise(600_000);
  const blanked = Buffer.from(body);
  const patches = [
    { offset: 262_140, bytes: Buffer.alloc(10) },
    { offset: 599_990, bytes: Buffer.from("0123456789") },
  ];
  for (const { offset, bytes } of patches) bytes.copy(blanked, offset);
  const key = `objects/${id}`;
  await service.store.put(
    key,
    (async function* () {
      yield body;
    })(),
  );
  await service.sql.begin((tx) =>
    insertReadyMedia(
      tx,
      { id, workspaceId, fileName: "video.mp4" },
      {
        kind: "video",
        contentType: "video/mp4",
        bytes: body.length,
        sha256: sha256(body),
        width: 1,
        height: 1,
        durationMs: 1,
        frames: 0,
        delivery: {
          kind: "blanked",
          patches: patches.map(({ offset, bytes }) => ({
            offset,
            bytes: bytes.toString("base64"),
          })),
          sha256: sha256(blanked),
        },
      },
      { objectKey: key, deliveryKey: null },
    ),
  );
  const ref = { workspaceId, id };

  const whole = await get(ref, { rendition: "delivery" });
  expect(whole.body.equals(blanked)).toBe(true);
  expect(whole.headers.etag).toBe(`"${sha256(blanked)}"`);
  const part = await get(ref, { rendition: "delivery", headers: { range: "bytes=262145-262155" } });
  expect(part.body).toEqual(blanked.subarray(262_145, 262_156));
  expect((await get(ref)).body.equals(body)).toBe(true);
});

test("the media service closes the file of a stored object when the client closes its connection early", async () => {
  const grant = await ready(
    await sharp({
      create: {
        width: 1500,
        height: 1500,
        channels: 3,
        background: "red",
        noise: { type: "gaussian", mean: 128, sigma: 60 },
      },
    })
      .png()
      .toBuffer(),
  );
  for (let round = 0; round < 5; round += 1) {
    const outgoing = request(`${service.url}/objects/${grant.workspaceId}/${grant.id}`, {
      headers: { ...GATEWAY },
    });
    outgoing.on("error", () => {});
    outgoing.end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    response.on("error", () => {});
    await once(response, "data");
    outgoing.destroy();
  }

  expect(await get(grant)).toMatchObject({ status: 200 });
});

/**
 * Stores ready media of 32 MB, more than the buffers of a connection hold, without an upload check.
 */
async function storeLarge(workspaceId: string): Promise<Ref> {
  const ref = { workspaceId, id: newId() };
  const keys = { objectKey: `objects/${newId()}`, deliveryKey: null };
  const bytes = 32 * 1024 * 1024;
  await service.store.put(
    keys.objectKey,
    (async function* () {
      yield Buffer.alloc(bytes);
    })(),
  );
  const checked = {
    kind: "video",
    contentType: "video/mp4",
    bytes,
    sha256: "ab",
    width: 1,
    height: 1,
    durationMs: 1,
    frames: 0,
    delivery: { kind: "same" },
  } as const;
  await service.sql.begin((tx) => insertReadyMedia(tx, { ...ref, fileName: "a" }, checked, keys));
  return ref;
}

test("slow downloads of one file or one workspace do not hinder downloads of other files, other workspaces and the delivery service", async () => {
  await using small = await service.startReplica({ maxTransfers: 4 });
  const mine = newId();
  const files = await Promise.all([1, 2, 3].map(() => storeLarge(mine)));
  const [first, second, third] = files as [Ref, Ref, Ref];
  const foreign = await storeLarge(newId());
  const opened: IncomingMessage[] = [];
  const open = async ({ workspaceId, id }: Ref, caller = GATEWAY) => {
    const outgoing = request(`${small.url}/objects/${workspaceId}/${id}`, {
      headers: { ...caller },
    });
    outgoing.on("error", () => undefined).end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    opened.push(response.on("error", () => undefined));
    return response.statusCode;
  };
  expect(await open(first)).toBe(200);
  expect(await open(first)).toBe(503);
  expect(await open(second)).toBe(200);
  expect(await open(third)).toBe(503);
  expect(await open(foreign)).toBe(200);
  expect(await open(first, DELIVERY)).toBe(200);
  for (const response of opened) response.destroy();
  await eventually(async () => (await open(third)) === 200);
  opened.at(-1)?.destroy();
});
