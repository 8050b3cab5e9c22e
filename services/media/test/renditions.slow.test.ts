import { createHash } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  MediaPreparationSchema,
  PreparedMedia,
} from "@postrider/contracts/media/v1/media_service_pb";
import { ascii, box, sampleMp4 } from "@postrider/local/demo/sample-mp4";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { MIN_FILE_BYTES } from "#src/db/storage.ts";
import type { RenderImages } from "#src/domain/rendition-plan.ts";
import { DELIVERY, startMedia, type TestMedia } from "./media-fixture.ts";
import { picture } from "./sample-pictures.ts";
import { createGrant, upload, type Grant } from "./upload-client.ts";

let renders = 0;
/**
 * What replaces the making of renditions during one test; undefined for the real implementation.
 */
let intercept: ((real: RenderImages) => RenderImages) | undefined;
const service = await startMedia({
  render: (real) => (job) => {
    renders += 1;
    return (intercept?.(real) ?? real)(job);
  },
});
const other = await service.startReplica();
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

type Ref = Pick<Grant, "workspaceId" | "id">;
const PLAN = {
  contentType: "image/jpeg",
  width: 60,
  height: 40,
  fit: "scale",
  maxBytes: 1_000_000n,
};
const SMALL = { ...PLAN, width: 30, height: 20 };

const photo = async () => await picture({ width: 120, height: 80 }).png().toBuffer();

async function ready(change: { body?: Buffer; contentType?: string; workspaceId?: string } = {}) {
  const { body = await photo(), contentType = "image/png", workspaceId = newId() } = change;
  const grant = await createGrant(service, body.length, { contentType, workspaceId });
  await upload(service, grant, body);
  await service.complete(grant);
  return grant;
}

const item = (
  { workspaceId, id: mediaId }: Ref,
  rendition?: typeof PLAN,
): MessageInitShape<typeof MediaPreparationSchema> => ({
  workspaceId,
  mediaId,
  ...(rendition === undefined ? {} : { rendition }),
});

async function prepare(
  items: readonly MessageInitShape<typeof MediaPreparationSchema>[],
  replica: Pick<TestMedia, "media"> = service,
): Promise<PreparedMedia[]> {
  return (await replica.media.prepareMedia({ items: [...items] })).files;
}

async function prepareOne(ref: Ref, plan = PLAN): Promise<PreparedMedia> {
  const [file] = await prepare([item(ref, plan)]);
  if (file === undefined) throw new Error("the answer has no file");
  return file;
}

async function get({ workspaceId, id }: Ref, rendition: string, headers: OutgoingHttpHeaders = {}) {
  const url = `${service.url}/objects/${workspaceId}/${id}?rendition=${rendition}`;
  const outgoing = request(url, { headers: { ...DELIVERY, ...headers } });
  outgoing.end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const body = Buffer.concat(await Array.fromAsync(response));
  return { status: response.statusCode, headers: response.headers, body };
}

/** While it is not made, it is asked for again; the work continues. */
const preview = (ref: Ref) =>
  eventually(async () => {
    const answer = await get(ref, "preview");
    if (answer.status === 503) throw new Error("the preview is not made yet");
    return answer;
  });

const counted = (bytes: number | bigint) => BigInt(Math.max(Number(bytes), MIN_FILE_BYTES));

async function usedBytes(workspaceId: string): Promise<bigint> {
  const { storage } = await service.storage.getStorage({ workspaceId });
  return storage?.usedBytes ?? -1n;
}

test("the preview of an image is made once for several requests, leaves its description free to change, and is deleted with its media", async () => {
  const body = await picture({ width: 1_200, height: 800 }).jpeg({ quality: 100 }).toBuffer();
  expect(body.length).toBeGreaterThan(60_000);
  const ref = await ready({ body, contentType: "image/jpeg" });
  renders = 0;
  const before = await usedBytes(ref.workspaceId);
  const answers = await Promise.all([
    get(ref, "preview"),
    get(ref, "preview"),
    get(ref, "preview"),
  ]);
  const [first] = answers;
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(first?.headers["content-type"]).toBe("image/jpeg");
  expect(first?.body.length).toBeLessThanOrEqual(60_000);
  expect(await sharp(first?.body).metadata()).toMatchObject({ width: 480, height: 320 });
  expect(renders).toBe(1);
  expect((await service.listStored()).length).toBeGreaterThan(1);
  expect(await usedBytes(ref.workspaceId)).toBe(before + counted(first?.body.length ?? 0));
  // The description can still be changed, which is not so after a platform has received a file.
  const described = { workspaceId: ref.workspaceId, id: ref.id, altText: "a hill" };
  expect((await service.media.updateMedia(described)).media).toMatchObject({ altText: "a hill" });

  const stored = await service.listStored();
  await service.media.deleteMedia({ workspaceId: ref.workspaceId, id: ref.id });
  await service.removeObjects(0);
  expect(await service.listStored()).toHaveLength(stored.length - 2);
  expect((await get(ref, "preview")).status).toBe(404);
});

test("a small image is its own preview, and videos and animated images have none", async () => {
  const small = await photo();
  const own = await preview(await ready({ body: small }));
  expect(own).toMatchObject({ status: 200, headers: { "content-type": "image/png" } });
  const video = await ready({ body: Buffer.from(sampleMp4()), contentType: "video/mp4" });
  expect(await preview(video)).toMatchObject({ status: 204, body: Buffer.alloc(0) });
  const frame = await picture({ width: 500, height: 400 }).png().toBuffer();
  const animated = await sharp([frame, small], { join: { animated: true } })
    .gif()
    .toBuffer();
  expect(animated.length).toBeGreaterThan(60_000);
  const gif = await ready({ body: animated, contentType: "image/gif" });
  expect((await preview(gif)).status).toBe(204);
});

test("PrepareMedia makes a rendition, and GET /objects serves it as a whole and in ranges", async () => {
  const ref = await ready();
  const file = await prepareOne(ref);

  expect(file).toMatchObject({
    media: { id: ref.id, frames: 1 },
    contentType: "image/jpeg",
    width: 60,
    height: 40,
    refusal: "",
  });
  const whole = await get(ref, file.renditionId);
  expect(whole).toMatchObject({
    status: 200,
    headers: {
      "content-type": "image/jpeg",
      "content-length": String(file.bytes),
      etag: `"${file.sha256}"`,
    },
  });
  expect(createHash("sha256").update(whole.body).digest("hex")).toBe(file.sha256);
  expect(await sharp(whole.body).metadata()).toMatchObject({ width: 60, height: 40 });
  const part = await get(ref, file.renditionId, { range: "bytes=10-19" });
  expect(part).toMatchObject({
    status: 206,
    headers: { "content-range": `bytes 10-19/${file.bytes}` },
  });
  expect(part.body).toEqual(whole.body.subarray(10, 20));
});

test("PrepareMedia without a plan of a rendition returns the file that every platform receives, and returns no file for unknown media", async () => {
  const body = await photo();
  const ref = await ready({ body });
  const [delivery, unknown, foreign] = await prepare([
    item(ref),
    item({ ...ref, id: newId() }, PLAN),
    item({ ...ref, workspaceId: newId() }, PLAN),
  ]);

  expect(delivery).toMatchObject({
    renditionId: "delivery",
    contentType: "image/png",
    bytes: BigInt(body.length),
    width: 120,
    height: 80,
  });
  for (const file of [unknown, foreign])
    expect(file).toMatchObject({ renditionId: "", refusal: "" });
  expect([unknown?.media, foreign?.media]).toEqual([undefined, undefined]);
});

test("renditions of the same media with equal plans share one file, however many requests on several replicas ask at the same time", async () => {
  const ref = await ready();
  renders = 0;
  const answers = await Promise.all(
    [service, other, service, other].map(
      async (replica) =>
        await prepare([item(ref, PLAN), item(ref, SMALL), item(ref, PLAN)], replica),
    ),
  );

  const ids = answers.flat().map(({ renditionId, width }) => `${width} ${renditionId}`);
  expect(new Set(ids).size).toBe(2);
  expect(renders).toBe(1);
  expect(await service.sql`select 1 from media_renditions where media_id = ${ref.id}`).toHaveLength(
    2,
  );
  const before = renders;
  expect(await prepareOne(ref)).toMatchObject({ width: 60 });
  expect(renders).toBe(before);
});

test("GET /objects returns 404 for a rendition if the address names another workspace, or media from which the rendition was not made", async () => {
  const [ref, second] = [await ready(), await ready()];
  const { renditionId } = await prepareOne(ref);

  for (const foreign of [
    { ...ref, workspaceId: second.workspaceId },
    { ...ref, id: second.id },
    second,
  ])
    expect(await get(foreign, renditionId)).toMatchObject({ status: 404 });
  expect(await get(ref, newId())).toMatchObject({ status: 404 });
  expect(await get(ref, "other")).toMatchObject({ status: 400 });
});

test("PrepareMedia explains in one sentence why a rendition cannot be made, and a repeated request does not try to make it again", async () => {
  const frames = [
    await photo(),
    await picture({ width: 120, height: 80 }).negate().png().toBuffer(),
  ];
  const body = await sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer();
  const ref = await ready({ body, contentType: "image/gif" });
  renders = 0;

  for (const file of [await prepareOne(ref), await prepareOne(ref)])
    expect(file).toMatchObject({
      media: { id: ref.id, frames: 2 },
      renditionId: "",
      refusal: "The image is animated, and animated images are not converted.",
    });
  expect(renders).toBe(1);
});

test.each([
  ["another media type", { contentType: "image/gif" }],
  ["no width", { width: 0 }],
  ["an unknown fit", { fit: "stretch" }],
  ["too few bytes", { maxBytes: 100n }],
])("PrepareMedia refuses the plan of a rendition with %s", async (_name, change) => {
  const ref = await ready();

  await expect(prepareOne(ref, { ...PLAN, ...change })).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ path: "/items/0/rendition" }],
  });
});

test("when a process dies while it makes a rendition, another process can make the rendition after the lease has expired", async () => {
  const ref = await ready();
  await service.sql`
    insert into media_renditions (id, workspace_id, media_id, plan, status, lease_token, lease_until)
    values (${newId()}, ${ref.workspaceId}, ${ref.id}, 'image/jpeg 60x40 scale 1000000', 'making', ${newId()},
      now() + interval '1 hour')`;
  const waiting = prepareOne(ref);
  await service.sql`update media_renditions set lease_until = now() where media_id = ${ref.id}`;

  expect(await waiting).toMatchObject({ width: 60, refusal: "" });
});

test("PrepareMedia returns unavailable when a rendition cannot be made at the moment, and a repeated request makes it", async () => {
  const ref = await ready();
  intercept = () => () => Promise.resolve({ kind: "unavailable" });
  await expect(prepareOne(ref)).rejects.toMatchObject({ kind: "unavailable" });
  intercept = undefined;

  expect(await prepareOne(ref)).toMatchObject({ width: 60 });
});

test("when renditions of one request together exceed a limit, each is made in its own process, and one that still exceeds it is refused", async () => {
  const ref = await ready();
  intercept = (real) => async (job) =>
    job.plans.some(({ width }) => width === 60) ? { kind: "exhausted" } : await real(job);
  const files = await prepare([item(ref, PLAN), item(ref, SMALL)]);
  intercept = undefined;

  expect(files).toMatchObject([
    { refusal: "The image cannot be converted within the limits of time and memory." },
    { width: 30, refusal: "" },
  ]);
});

test("renditions count towards the storage of their workspace, and are deleted with their media", async () => {
  const body = await photo();
  const ref = await ready({ body });
  const file = await prepareOne(ref);
  expect(await usedBytes(ref.workspaceId)).toBe(counted(body.length) + counted(file.bytes));
  await service.removeOrphans();
  expect(await get(ref, file.renditionId)).toMatchObject({ status: 200 });

  await service.media.deleteMedia({ workspaceId: ref.workspaceId, id: ref.id });
  expect(await get(ref, file.renditionId)).toMatchObject({ status: 404 });
  const keys = await service.sql<{ objectKey: string }[]>`
    select object_key from media_renditions where media_id = ${ref.id}`;
  await eventually(async () => (await service.removeObjects(0)) === 0);
  const stored = await service.listStored();
  expect(keys.filter(({ objectKey }) => stored.includes(objectKey))).toEqual([]);
  expect(await usedBytes(ref.workspaceId)).toBe(0n);
  expect(await service.sql`select 1 from media_renditions where media_id = ${ref.id}`).toEqual([]);
});

test("a rendition that is finished after its media were deleted leaves no file", async () => {
  const ref = await ready();
  const before = await service.listStored();
  intercept = (real) => async (job) => {
    const end = await real(job);
    await service.media.deleteMedia({ workspaceId: ref.workspaceId, id: ref.id });
    return end;
  };
  const file = await prepareOne(ref);
  intercept = undefined;

  expect(file).toMatchObject({ renditionId: "", refusal: "" });
  const isNew = (key: string) => !before.includes(key);
  expect((await service.listStored()).filter(isNew)).toEqual([]);
});

test("PrepareMedia records the time at which it first prepared media, and a later call keeps this time", async () => {
  const ref = await ready();
  const read = async () => await service.sql`select prepared_at from media where id = ${ref.id}`;
  expect(await read()).toEqual([{ preparedAt: null }]);
  await prepare([item(ref)]);
  const [first] = await read();
  await prepareOne(ref);

  expect(first?.["preparedAt"]).toBeInstanceOf(Date);
  expect(await read()).toEqual([first]);
});

test("PrepareMedia makes an MP4 of a MOV once for all platforms, without the metadata of the upload", async () => {
  const place = "+37.3318-122.0312/";
  const body = Buffer.from(
    sampleMp4({ brand: "qt  ", inMovie: [box("udta", box("\u00a9xyz", ascii(place)))] }),
  );
  const grant = await ready({ body, contentType: "video/quicktime" });
  const plan = { ...PLAN, contentType: "video/mp4", maxBytes: 1_000_000_000_000n };
  const before = renders;

  const items = [item(grant, plan), item(grant, plan)];
  const { files } = await service.media.prepareMedia({ items });
  const again = await service.media.prepareMedia({ items: [item(grant, plan)] });

  expect(renders - before).toBe(1);
  expect(again.files[0]?.renditionId).toBe(files[0]?.renditionId);
  expect(files[1]).toMatchObject({
    renditionId: files[0]?.renditionId,
    contentType: "video/mp4",
    width: 128,
    height: 96,
    refusal: "",
  });
  const served = await get(grant, files[0]?.renditionId ?? "");
  expect(served.status).toBe(200);
  expect(served.body.includes(place)).toBe(false);
  expect(served.body.indexOf("moov")).toBeLessThan(served.body.indexOf("mdat"));
  const [image] = (await service.media.prepareMedia({ items: [item(await ready(), plan)] })).files;
  expect(image?.refusal).toBe("Images are not made into videos.");
});
