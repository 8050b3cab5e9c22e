import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { fromJsonString } from "@bufbuild/protobuf";
import { MediaReadySchema } from "@postrider/contracts/media/v1/media_events_pb";
import { ServiceError, type Violation } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import type { InspectFile } from "#src/domain/inspected-media.ts";
import { createFileInspector } from "#src/inspection/file-inspector.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import { TempSpace, type SpaceRequest } from "#src/storage/temp-space.ts";
import { inspectFake } from "./fake-inspection.ts";
import { startHost, startImporter, startRawHost } from "./import-fixture.ts";

const PNG = Buffer.from("PNG and more bytes");
const NOTHING = { rows: 0, objects: 0, files: 0 };

const importer = await startImporter();
afterAll(() => importer[Symbol.asyncDispose]());

/** Runs an import that must fail and leave nothing behind, and returns its error. */
async function failure(url: string, replica = importer.startReplica()) {
  const workspaceId = newId();
  const before = await importer.remains(workspaceId);
  const error: unknown = await replica.media.importMedia({ workspaceId, url }).then(
    () => new Error("the import succeeded"),
    (reason: unknown) => reason,
  );
  expect(await importer.remains(workspaceId)).toEqual(before);
  if (!(error instanceof ServiceError)) throw error;
  return { reason: error.reason, violations: error.violations };
}

const importFailed = {
  reason: "import_failed",
  violations: [
    expect.objectContaining({
      code: "download_broken",
      path: "/url",
      reason: expect.stringMatching(/^[a-z ]/) as string,
    }) as Violation,
  ],
};

test("ImportMedia stores a file as ready media, publishes an event, and leaves no temporary file", async () => {
  await using host = await startHost((_request, response) => response.end(PNG));
  const workspaceId = newId();
  const url = `${host.url}/pictures/%EA%B3%A0%EC%96%91%EC%9D%B4.png?size=large`;
  const { media, replayed } = await importer.media.importMedia({ workspaceId, url });
  const sha256 = createHash("sha256").update(PNG).digest("hex");
  expect(replayed).toBe(false);
  expect(media).toMatchObject({
    workspaceId,
    status: "ready",
    kind: "image",
    contentType: "image/png",
    bytes: BigInt(PNG.length),
    width: 2,
    height: 1,
    sha256,
    deliverySha256: sha256,
    fileName: "고양이.png",
  });
  const [row] = await importer.sql<{ objectKey: string }[]>`
      select object_key from media where id = ${media?.id ?? ""}`;
  const stored = await importer.store.open(row?.objectKey ?? "");
  const chunks: Uint8Array[] = [];
  for await (const chunk of stored?.content ?? []) chunks.push(chunk);
  expect(Buffer.concat(chunks)).toEqual(PNG);
  const [event] = await importer.sql<{ payload: string }[]>`
      select payload from outbox where key = ${media?.id ?? ""}`;
  expect(fromJsonString(MediaReadySchema, event?.payload ?? "{}")).toMatchObject({
    workspaceId,
    mediaId: media?.id,
    version: 1n,
  });
  expect(await importer.remains(workspaceId)).toMatchObject({ rows: 1, files: 0 });
});

test("ImportMedia stores a second object when platforms receive a converted file", async () => {
  const rewriting: InspectFile = async (path, declared) => {
    const result = await inspectFake(path, declared);
    if (result.kind !== "accepted") return result;
    const delivery = {
      kind: "rewritten",
      path,
      bytes: PNG.length,
      sha256: "ab",
      contentType: "image/jpeg",
    } as const;
    return { ...result, media: { ...result.media, delivery } };
  };
  await using host = await startHost((_request, response) => response.end(PNG));
  const workspaceId = newId();
  const { objects } = await importer.remains(workspaceId);
  const replica = importer.startReplica({ inspect: rewriting });
  const { media } = await replica.media.importMedia({ workspaceId, url: host.url });
  expect(media).toMatchObject({ deliveryContentType: "image/jpeg", deliverySha256: "ab" });
  expect(await importer.remains(workspaceId)).toMatchObject({ objects: objects + 2 });
});

test("ImportMedia follows three redirects and fails at the fourth", async () => {
  await using host = await startHost((request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end(PNG);
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  const workspaceId = newId();
  const { media } = await importer.media.importMedia({ workspaceId, url: `${host.url}/3` });
  expect(media).toMatchObject({ status: "ready" });
  expect(await failure(`${host.url}/4`)).toEqual(importFailed);
});

test("ImportMedia inspects a downloaded file in the same way as an uploaded file", async () => {
  const limits = { maxImageBytes: 1000, maxVideoBytes: 5000 };
  const logger = createLogger({ service: "test", level: "silent" });
  await using inspector = createFileInspector({ limits, logger });
  const replica = importer.startReplica({ inspect: inspector.inspect });
  const picture = await sharp({
    create: { width: 3, height: 2, channels: 3, background: "red" },
  })
    .png()
    .toBuffer();
  await using host = await startHost((request, response) =>
    response.end(request.url === "/red.png" ? picture : "<html>"),
  );
  const workspaceId = newId();
  const { media } = await replica.media.importMedia({ workspaceId, url: `${host.url}/red.png` });
  expect(media).toMatchObject({ kind: "image", contentType: "image/png", width: 3, height: 2 });
  expect(await failure(`${host.url}/page.png`, replica)).toMatchObject({
    reason: "media_rejected",
  });
  await using silent = await startHost((_request, response) => response.end());
  expect(await failure(silent.url, replica)).toMatchObject({ reason: "media_rejected" });
});

test("imported media belong only to the workspace of the request", async () => {
  await using host = await startHost((_request, response) => response.end(PNG));
  const [mine, theirs] = [newId(), newId()];
  await importer.media.importMedia({ workspaceId: mine, url: host.url });
  expect(await importer.remains(theirs)).toMatchObject({ rows: 0 });
});

test.each([
  "http://127.0.0.2/cat.png",
  "http://localhost/cat.png",
  "http://169.254.169.254/latest/meta-data/",
  "http://[::1]/cat.png",
  "http://private.example.com/cat.png",
  "http://mixed.example.com/cat.png",
  "http://db.internal/cat.png",
])("ImportMedia refuses the non-public address %s", async (url) => {
  expect(await failure(url)).toMatchObject({ reason: "address_not_allowed" });
});

test("ImportMedia refuses a redirect to a non-public address", async () => {
  for (const location of ["http://127.0.0.2/", "http://private.example.com/"]) {
    await using host = await startHost((_request, response) =>
      response.writeHead(302, { location }).end(),
    );
    expect(await failure(host.url)).toMatchObject({ reason: "address_not_allowed" });
  }
});

test.each(["ftp://example.com/a.png", "cat.png", "http://user:secret@example.com/a.png"])(
  "ImportMedia refuses the invalid URL %s",
  async (url) => {
    expect(await failure(url)).toEqual({
      reason: "invalid_request",
      violations: [expect.objectContaining({ code: "invalid", path: "/url" })],
    });
  },
);

test("ImportMedia says that it takes no URL with a user name and password", async () => {
  expect(await failure("http://user:secret@example.com/a.png")).toMatchObject({
    violations: [{ expected: "the URL without a user name and password" }],
  });
});

test("ImportMedia answers the same for a name that does not exist and for one with a private address", async () => {
  const missing = await failure("http://gone.example.com/cat.png");

  expect(missing).toEqual(await failure("http://private.example.com/cat.png"));
  expect(missing).toMatchObject({ reason: "address_not_allowed" });
});

test("ImportMedia says that a public host refuses connections", async () => {
  const host = await startHost((_request, response) => response.end(PNG));
  await host[Symbol.asyncDispose]();

  expect(await failure(host.url)).toMatchObject({
    reason: "import_failed",
    violations: [{ reason: "the server refuses connections on this port" }],
  });
});

test("ImportMedia says that an address answered with a web page, and which type it has", async () => {
  const page = "\n<!DOCTYPE html><html><head><title>Virus scan warning</title></head></html>";
  await using host = await startHost((_request, response) =>
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page),
  );
  const replica = importer.startReplica({
    inspect: () =>
      Promise.resolve({
        kind: "rejected",
        violation: { code: "media_type_unsupported", message: "", found: "text/html" },
      }),
  });

  expect(await failure(host.url, replica)).toMatchObject({
    reason: "media_rejected",
    violations: [
      { code: "download_not_media", path: "/url", reason: "a web page", found: "text/html" },
    ],
  });
});

test("ImportMedia fails when the connection is refused", async () => {
  const host = await startHost(() => undefined);
  await host[Symbol.asyncDispose]();
  expect(await failure(host.url)).toEqual(importFailed);
});

test("ImportMedia fails when the TLS handshake fails", async () => {
  await using host = await startHost((_request, response) => response.end(PNG));
  expect(await failure(host.url.replace("http:", "https:"))).toEqual(importFailed);
});

test.each([201, 204, 206, 304, 401, 404, 410, 429, 500, 503])(
  "ImportMedia fails when the host answers with the HTTP status %d",
  async (status) => {
    await using host = await startHost((_request, response) => {
      response.writeHead(status).end(status === 204 || status === 304 ? undefined : PNG);
    });
    expect(await failure(host.url)).toMatchObject({
      reason: "import_failed",
      violations: [{ code: "download_refused", path: "/url", status: `${status}` }],
    });
  },
);

test.each(["gzip", "br", "deflate", "GZIP", "identity, gzip", "aes128gcm"])(
  "ImportMedia fails when the server answers with the Content-Encoding %s",
  async (encoding) => {
    await using host = await startHost((_request, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(gzipSync(PNG)),
    );
    expect(await failure(host.url)).toEqual(importFailed);
  },
);

test.each([
  ["is truncated", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nPNG"],
  [
    "is truncated between chunks",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nPNG\r\n",
  ],
  ["is not HTTP", "SSH-2.0-OpenSSH_9.9\r\n"],
  ["has endless headers", `HTTP/1.1 200 OK\r\nX-Huge: ${"x".repeat(20_000)}`],
  ["is empty", ""],
])(
  "ImportMedia fails when the response of the host is invalid or incomplete: it %s",
  async (_name, text) => {
    await using host = await startRawHost((socket) => socket.end(text));
    expect(await failure(host.url)).toEqual(importFailed);
  },
);

test("ImportMedia fails when the connection is reset", async () => {
  await using host = await startRawHost((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nPNG", () =>
      socket.resetAndDestroy(),
    );
  });
  expect(await failure(host.url)).toEqual(importFailed);
});

test("ImportMedia fails when a slow download exceeds its time limit", async () => {
  await using host = await startRawHost((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nPNG");
    const drip = setInterval(() => socket.write("x"), 10);
    socket.on("close", () => clearInterval(drip));
  });
  expect(await failure(host.url, importer.startReplica({ totalMs: 200 }))).toEqual(importFailed);
});

test("ImportMedia returns unavailable when the media process stops during the download", async () => {
  await using host = await startHost((_request, response) => response.write("PNG"));
  const replica = importer.startReplica();
  const failed = failure(host.url, replica);
  await eventually(() => host.requests.length > 0);
  await replica.imports[Symbol.asyncDispose]();
  expect(await failed).toMatchObject({ reason: "unavailable" });
});

const video = (bytes: number) =>
  Buffer.concat([Buffer.from("\0\0\0\u0018ftypmp42"), Buffer.alloc(bytes - 12)]);
const tooLarge = (limit: number, actual: number) => ({
  reason: "media_rejected",
  violations: [expect.objectContaining({ code: "media_too_large", limit, actual })],
});

test("ImportMedia rejects an image that is one byte too large, with and without Content-Length", async () => {
  const bytes = Buffer.concat([PNG, Buffer.alloc(1001 - PNG.length)]);
  await using host = await startHost((request, response) => {
    if (request.url === "/chunked") response.write(bytes.subarray(0, 500));
    response.end(request.url === "/chunked" ? bytes.subarray(500) : bytes);
  });
  expect(await failure(`${host.url}/announced`)).toEqual(tooLarge(1000, 1001));
  expect(await failure(`${host.url}/chunked`)).toEqual(tooLarge(1000, 1001));
  await using exact = await startHost((_request, response) => response.end(bytes.subarray(1)));
  // Without its first byte the file has the maximum size, so it is downloaded and inspected. The
  // inspection rejects it, because it is no longer a PNG.
  expect(await failure(exact.url)).toMatchObject({
    reason: "media_rejected",
    violations: [{ code: "media_type_unsupported" }],
  });
});

test("ImportMedia applies the size limit of videos to a file whose first bytes look like a video", async () => {
  await using host = await startHost((request, response) =>
    response.end(video(Number(request.url?.slice(1)))),
  );
  expect(await failure(`${host.url}/5001`)).toEqual(tooLarge(5000, 5001));
  expect(await failure(`${host.url}/5000`)).toMatchObject({
    violations: [{ code: "media_type_unsupported" }],
  });
});

test("ImportMedia rejects an endless response without waiting for its end", async () => {
  await using host = await startHost((_request, response) => {
    const flood = () => {
      while (!response.destroyed && response.write(Buffer.alloc(1000, "x")));
    };
    response.on("drain", flood).on("error", () => undefined);
    flood();
  });
  expect(await failure(host.url)).toMatchObject({
    reason: "media_rejected",
    violations: [{ code: "media_too_large", limit: 1000 }],
  });
});

test("when the inspection rejects an imported file, ImportMedia returns the violation with its limit and actual value", async () => {
  const violation = { code: "media_dimensions", message: "", limit: 100, actual: 101 } as const;
  const replica = importer.startReplica({
    inspect: () => Promise.resolve({ kind: "rejected", violation }),
  });
  await using host = await startHost((_request, response) => response.end(PNG));
  expect(await failure(host.url, replica)).toEqual({
    reason: "media_rejected",
    violations: [expect.objectContaining({ code: "media_dimensions", limit: 100, actual: 101 })],
  });
});

test("ImportMedia returns unavailable when the file cannot be inspected at the moment", async () => {
  const replica = importer.startReplica({
    inspect: () => Promise.resolve({ kind: "unavailable" }),
  });
  await using host = await startHost((_request, response) => response.end(PNG));
  expect(await failure(host.url, replica)).toMatchObject({ reason: "unavailable" });
});

test("failed imports leave no object and no temporary file", async () => {
  const named = await importer.sql<{ count: number }[]>`
    select count(object_key)::int + count(delivery_key)::int as count from media`;
  expect(await importer.remains(newId())).toEqual({ ...NOTHING, objects: named[0]?.count });
});

/** The first bytes of an MP4 file. */
const VIDEO_START = Buffer.from("\0\0\0\x18ftypmp42\0\0\0\0");

/**
 * A temporary folder that counts the imports that have asked for disk space and the imports that
 * have received it.
 */
class CountingSpace extends TempSpace {
  askedCount = 0;
  grantedCount = 0;

  override async reserve(request: SpaceRequest): Promise<Disposable> {
    this.askedCount += 1;
    const reserved = await super.reserve(request);
    this.grantedCount += 1;
    return reserved;
  }
}

const acceptVideo: InspectFile = async () => ({
  kind: "accepted",
  media: {
    kind: "video",
    contentType: "video/mp4",
    bytes: 5000,
    sha256: "ab",
    width: 1,
    height: 1,
    durationMs: 1,
    frames: 0,
    delivery: { kind: "same" },
  },
});

test("imports wait for temporary space before they write files to the temporary folder", async () => {
  const mayEnd = Promise.withResolvers<void>();
  await using host = await startHost((_request, response) => {
    response.writeHead(200, { "content-length": 5000 });
    response.write(Buffer.concat([VIDEO_START, Buffer.alloc(4000)]));
    void mayEnd.promise.then(() => response.end(Buffer.alloc(1000 - VIDEO_START.length)));
  });
  await using own = await startImporter({ inspect: acceptVideo });
  const space = new CountingSpace({ folder: own.tempDir, bytes: 20_000 });
  const { media } = own.startReplica({ space });
  const imports = Array.from({ length: 6 }, () =>
    media.importMedia({ workspaceId: newId(), url: host.url }),
  );
  const sizes = async () => {
    const names = await readdir(own.tempDir, { recursive: true }).catch(() => []);
    const files = names.filter((name) => name.endsWith("/import"));
    const stats = await Promise.all(files.map((name) => stat(join(own.tempDir, name))));
    return stats.map(({ size }) => size);
  };
  await eventually(() => space.askedCount === 6);
  expect(space.grantedCount).toBe(2);
  const isWritten = (size: number) => size > 0;
  await eventually(async () => (await sizes()).filter(isWritten).length === 2);
  mayEnd.resolve();

  const answers = await Promise.all(imports);
  expect(answers.map(({ media }) => media?.status)).toEqual(Array(6).fill("ready"));
  expect(await sizes()).toEqual([]);
});

test("ImportMedia returns unavailable with a retry delay when the temporary folder or the object store fails", async () => {
  await using host = await startHost((_request, response) => response.end(PNG));
  const broken = [
    { space: new TempSpace({ folder: "/dev/null/temp", bytes: 10_000 }) },
    { store: failing(new DOMException("The operation timed out.", "TimeoutError")) },
    { store: failing(Object.assign(new Error("full"), { code: "ENOSPC" })) },
  ];
  for (const options of broken) {
    await using own = await startImporter(options);
    await expect(
      own.startReplica(options).media.importMedia({ workspaceId: newId(), url: host.url }),
    ).rejects.toMatchObject({ reason: "unavailable", retryAfterMs: 1000 });
  }
});

/** Returns an object store that fails every write. */
function failing(error: Error): ObjectStore {
  const put = () => Promise.reject(error);
  const nothing = () => Promise.resolve(undefined);
  return {
    put,
    open: nothing,
    stat: nothing,
    move: () => Promise.resolve(false),
    delete: async () => {},
    list: async function* () {},
    removeUnfinished: () => Promise.resolve(0),
    hasUploadUrls: false,
    createUploadUrl: nothing,
    check: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}
