import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { MAX_CALLS_IN_FLIGHT } from "@postrider/shared/connect/client";
import { invalidRequest } from "@postrider/shared/errors";
import { verifyToken } from "@postrider/shared/secrets/signed-token";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { createTestPeer } from "@postrider/shared/testing/router";
import { afterEach, expect, test } from "vitest";
import { createMediaSource } from "./media.ts";

type MediaImplementation = Partial<ServiceImpl<typeof MediaService>>;

const signal = new AbortController().signal;
const KEY = "k".repeat(32);
const MEDIA = create(MediaSchema, {
  id: "m1",
  workspaceId: "w1",
  kind: "video",
  deliveryContentType: "video/mp4",
  deliveryBytes: 10n,
  deliverySha256: "abc",
});

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  server = createServer(handle);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const identities = createTestIdentities();

const IMAGE = create(MediaSchema, {
  id: "m2",
  workspaceId: "w1",
  kind: "image",
  deliveryContentType: "image/png",
  deliveryBytes: 20n,
  deliverySha256: "def",
  width: 4000,
  height: 3000,
  fileName: "a.png",
});
const RENDITION = {
  contentType: "image/jpeg",
  width: 1440,
  height: 1080,
  fit: "scale",
  maxBytes: 100_000,
} as const;

function openSource(baseUrl: string, implementation: MediaImplementation = {}) {
  const peer = createTestPeer((router) => router.service(MediaService, implementation));
  return createMediaSource({
    baseUrl,
    identity: identities.of("delivery"),
    publicUrl: "https://api.example.test",
    mediaKey: KEY,
    urlMs: 60_000,
    mediaService: peer.client(MediaService),
  });
}

function describeAt(baseUrl: string) {
  return openSource(baseUrl).describe(MEDIA);
}

async function readAll(baseUrl: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  const read = await describeAt(baseUrl).read({ start: 2, length: 5 }, signal);
  for await (const chunk of read) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("the delivery service authenticates itself when it requests a range of a media file, and reads the answer as a stream", async () => {
  const asked: { path: unknown; token: string; range: unknown }[] = [];
  const url = await serve(({ url: path, headers }, response) => {
    asked.push({ path, token: String(headers["x-identity"]), range: headers.range });
    response.writeHead(206).end("23456");
  });
  expect(await readAll(url)).toBe("23456");
  expect(asked).toMatchObject([{ path: "/objects/w1/m1?rendition=delivery", range: "bytes=2-6" }]);
  const caller = identities.accessOf("media").authenticate(() => asked[0]?.token);
  expect(await caller).toBe("delivery");
});

test.each([
  [404, "gone"],
  [410, "gone"],
  [429, "unavailable"],
  [503, "unavailable"],
  [500, "broken"],
  [200, "broken"],
])(
  "an answer of the media service with HTTP status %i means that the media file is %s",
  async (status, reason) => {
    const url = await serve((_request, response) => response.writeHead(status).end("0123456789"));
    await expect(readAll(url)).rejects.toMatchObject({ name: "MediaUnreadable", reason });
  },
);

test("a media file counts as unavailable when the media service cannot be reached", async () => {
  await expect(readAll("http://127.0.0.1:1")).rejects.toMatchObject({ reason: "unavailable" });
});

test("a media file counts as broken when the media service closes the connection before all bytes are sent", async () => {
  const url = await serve((_request, response) => {
    response.writeHead(206, { "content-length": "5" }).write("23", () => response.destroy());
  });
  await expect(readAll(url)).rejects.toMatchObject({ reason: "broken" });
});

test("a media file is read at once while the files of another workspace are read slowly", async () => {
  const url = await serve(({ url: path = "" }, response) => {
    response.writeHead(206);
    if (path.startsWith("/objects/w1/")) response.write("2");
    else response.end("23456");
  });
  const source = openSource(url);
  const own = source.describe(MEDIA);
  const other = source.describe({ ...MEDIA, workspaceId: "w2" });
  const range = { start: 2, length: 5 };
  const slow = Promise.allSettled(Array.from({ length: 150 }, () => own.read(range, signal)));
  const chunks: Uint8Array[] = [];
  for await (const chunk of await other.read(range, signal)) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe("23456");
  expect((await slow).filter(({ status }) => status === "rejected")).toEqual([]);
});

test("the URL from which a platform downloads media is public and carries a signed token", () => {
  const { url } = describeAt("http://127.0.0.1:1");
  const token = url.replace("https://api.example.test/media/", "");
  const claims = { workspace: "w1", media: "m1", rendition: "delivery" };
  expect(verifyToken(KEY, "media", token, new Date())).toEqual(claims);
  expect(verifyToken(KEY, "media", token, new Date(Date.now() + 61_000))).toBeUndefined();
});

test("a prepared rendition has the facts, address and bytes of the file that the media service made", async () => {
  const asked: unknown[] = [];
  const url = await serve(({ url: path }, response) => {
    asked.push(path);
    response.writeHead(206).end("23456");
  });
  const source = openSource(url, {
    prepareMedia: ({ items }) => {
      asked.push(items[0]?.rendition?.maxBytes);
      const media = { ...IMAGE, altText: "A lake" };
      const file = { renditionId: "r1", contentType: "image/jpeg", bytes: 9n, sha256: "abc" };
      return { files: [{ ...file, media, width: 1440, height: 1080 }] };
    },
  });
  const [file] = await source.prepare([{ media: IMAGE, rendition: RENDITION }]);
  expect(file).toMatchObject({
    kind: "file",
    media: {
      id: "m2",
      contentType: "image/jpeg",
      bytes: 9,
      sha256: "abc",
      width: 1440,
      height: 1080,
      altText: "A lake",
      fileName: "a.png",
    },
  });
  if (file?.kind !== "file") throw new Error("there is no file");
  const token = file.media.url.replace("https://api.example.test/media/", "");
  const claims = { workspace: "w1", media: "m2", rendition: "r1" };
  expect(verifyToken(KEY, "media", token, new Date())).toEqual(claims);
  for await (const _chunk of await file.media.read({ start: 2, length: 5 }, signal));
  expect(asked).toEqual([100_000n, "/objects/w1/m2?rendition=r1"]);
});

test("a file that the media service refuses to convert is reported as refused with the media service's error message, and deleted media as gone", async () => {
  const source = openSource("http://127.0.0.1:1", {
    prepareMedia: () => ({ files: [{ media: IMAGE, refusal: "It is animated." }, {}] }),
  });
  const items = [
    { media: IMAGE, rendition: RENDITION },
    { media: IMAGE, rendition: undefined },
  ];
  expect(await source.prepare(items)).toEqual([
    { kind: "refused", message: "It is animated." },
    { kind: "gone" },
  ]);
});

test("conversions for one workspace hold at most a quarter of the calls to the media service", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  let converting = 0;
  const source = openSource("http://127.0.0.1:1", {
    prepareMedia: async ({ items: [item] }) => {
      if (item?.workspaceId === "w1" && item.rendition !== undefined) {
        converting += 1;
        await end;
      }
      return { files: [{}] };
    },
  });
  const convert = (media: typeof IMAGE) => source.prepare([{ media, rendition: RENDITION }]);
  const own = Promise.all(Array.from({ length: 100 }, () => convert(IMAGE)));
  const gone = [{ kind: "gone" }];
  expect(await convert({ ...IMAGE, workspaceId: "w2" })).toEqual(gone);
  expect(await source.prepare([{ media: IMAGE, rendition: undefined }])).toEqual(gone);
  expect(converting).toBe(MAX_CALLS_IN_FLIGHT / 4);
  resolve();
  await own;
});

test("an error of the media service while it prepares files reaches the caller", async () => {
  const source = openSource("http://127.0.0.1:1", {
    prepareMedia: () => {
      throw invalidRequest();
    },
  });
  await expect(source.prepare([{ media: IMAGE, rendition: undefined }])).rejects.toMatchObject({
    kind: "invalid",
  });
});
