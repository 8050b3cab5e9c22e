import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type Answer,
  itemsOf,
  mp4Bytes,
  pngBytes,
  type TestAccount,
  TestSimulator,
  textOf,
} from "#src/testing.ts";

const COLLECTION = "app.bsky.feed.post";

let simulator: TestSimulator;
let account: TestAccount;
let accessJwt: string;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  await login();
});

afterEach(() => simulator[Symbol.asyncDispose]());

async function login(): Promise<void> {
  account = await simulator.account("bluesky", "ada");
  const { identifier, appPassword: password } = account.credentials;
  const session = await simulator.call("POST", "/bluesky/xrpc/com.atproto.server.createSession", {
    json: { identifier, password },
  });
  accessJwt = textOf(session.body["accessJwt"]);
}

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

async function send(
  nsid: string,
  bytes: Buffer,
  type: string | undefined,
  token = accessJwt,
): Promise<Answer> {
  const response = await fetch(`${simulator.url}/bluesky/xrpc/${nsid}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      ...(type === undefined ? {} : { "content-type": type }),
    },
    body: new Uint8Array(bytes),
  });
  const body = (await response.json()) as Answer["body"];
  return { status: response.status, headers: response.headers, body };
}

const query = (nsid: string, parameters: Record<string, string>, token = accessJwt) =>
  simulator.call("GET", `/bluesky/xrpc/${nsid}?${String(new URLSearchParams(parameters))}`, {
    token,
  });

async function upload(bytes: Buffer, type = "image/png"): Promise<unknown> {
  const answer = await send("com.atproto.repo.uploadBlob", bytes, type);
  expect(answer.status).toBe(200);
  return answer.body["blob"];
}

let rkeys = 0;

function put(embed: unknown): Promise<Answer> {
  rkeys += 1;
  const rkey = `3lbexample${"234567abcdefghijklmnopqrstuvwxyz"[rkeys] ?? ""}22`;
  const record = { text: "", createdAt: "2026-11-20T10:00:00.000Z", embed };
  return simulator.call("POST", "/bluesky/xrpc/com.atproto.repo.putRecord", {
    token: accessJwt,
    json: { repo: account.externalId, collection: COLLECTION, rkey, record, swapRecord: null },
  });
}

const images = (...blobs: readonly unknown[]) => ({
  $type: "app.bsky.embed.images",
  images: blobs.map((image) => ({ image, alt: "", aspectRatio: { width: 1, height: 1 } })),
});
const video = (blob: unknown) => ({ $type: "app.bsky.embed.video", video: blob });
const visible = async () =>
  itemsOf(await simulator.control("/visible?platform=bluesky")).map((entry) => entry["media"]);

function serverDid(): string {
  return `did:web:${encodeURIComponent(new URL(simulator.url).host)}`;
}

async function serviceToken(part: Record<string, string> = {}): Promise<string> {
  const lxm = "com.atproto.repo.uploadBlob";
  const answer = await query("com.atproto.server.getServiceAuth", {
    aud: serverDid(),
    lxm,
    ...part,
  });
  return textOf(answer.body["token"]);
}

async function uploadVideo(bytes: Buffer, part: Record<string, string> = {}): Promise<Answer> {
  const parameters = new URLSearchParams({ did: account.externalId, name: "a.mp4", ...part });
  const nsid = `app.bsky.video.uploadVideo?${String(parameters)}`;
  return send(nsid, bytes, "video/mp4", await serviceToken());
}

async function jobOf(answer: Answer): Promise<Answer["body"]> {
  const jobId = textOf(answer.body["jobStatus"]?.["jobId"]);
  const found = await query("app.bsky.video.getJobStatus", { jobId });
  return found.body["jobStatus"] as Answer["body"];
}

test("the simulated Bluesky derives the CID of an image from its bytes, and the post that references the image shows it", async () => {
  const [first, second] = [await upload(pngBytes(1)), await upload(pngBytes(2))];
  expect(first).toEqual({
    $type: "blob",
    ref: { $link: expect.stringMatching(/^bafkrei[a-z2-7]{52}$/) as string },
    mimeType: "image/png",
    size: pngBytes(1).length,
  });
  expect(await upload(pngBytes(1), "application/octet-stream")).toEqual(first);
  expect((await put(images(second, first))).status).toBe(200);
  expect(await visible()).toEqual([
    [
      { kind: "image", sha256: sha256(pngBytes(2)) },
      { kind: "image", sha256: sha256(pngBytes(1)) },
    ],
  ]);
});

test("the simulated Bluesky deletes an uploaded image after an hour unless a post references it", async () => {
  const [used, unused] = [await upload(pngBytes(1)), await upload(pngBytes(2))];
  await put(images(used));
  await simulator.control("/clock", { advanceMs: 3_600_000 });
  expect((await put(images(used))).status).toBe(200);
  const answer = await put(images(unused));
  expect([answer.status, answer.body["error"]]).toEqual([400, "BlobNotFound"]);
  await upload(pngBytes(2));
  expect((await put(images(unused))).status).toBe(200);
});

test("the simulated Bluesky refuses a post that references another account's image or states a wrong size or type of its image", async () => {
  const blob = (await upload(pngBytes(1))) as Record<string, unknown>;
  const errors = [
    await put(images({ ...blob, ref: { $link: "bafkreiunknown" } })),
    await put(images({ ...blob, size: 1 })),
    await put(images({ ...blob, mimeType: "image/jpeg" })),
  ].map((answer) => answer.body["error"]);
  expect(errors).toEqual(["BlobNotFound", "InvalidSize", "InvalidMimeType"]);
  account = await simulator.account("bluesky");
  const { identifier, appPassword: password } = account.credentials;
  const nsid = "/bluesky/xrpc/com.atproto.server.createSession";
  const session = await simulator.call("POST", nsid, { json: { identifier, password } });
  accessJwt = textOf(session.body["accessJwt"]);
  expect((await put(images(blob))).body["error"]).toBe("BlobNotFound");
  expect(await visible()).toEqual([]);
});

test.each([
  ["five images", 5, {}, "array too big (maximum 4, got 5)"],
  [
    "an image without alternative text",
    1,
    { alt: undefined },
    "expected string value type (got undefined)",
  ],
  ["a fractional aspect ratio", 1, { aspectRatio: { width: 1.5, height: 1 } }, "expected width"],
  ["a URL instead of a blob", 1, { image: "https://example.com/a.png" }, "expected a blob"],
])("the simulated Bluesky refuses an image post with %s", async (_name, count, part, message) => {
  const blob = await upload(pngBytes());
  const image = { image: blob, alt: "", ...part };
  const embed = {
    $type: "app.bsky.embed.images",
    images: Array.from({ length: count }, () => image),
  };
  const answer = await put(embed);
  expect([answer.status, answer.body["error"]]).toEqual([400, "InvalidRequest"]);
  expect(answer.body["message"]).toContain(message);
});

test("the simulated Bluesky accepts the upload of an image of more than two million bytes, but refuses a post with that image", async () => {
  const blob = await upload(Buffer.concat([pngBytes(), Buffer.alloc(2_000_000)]));
  const answer = await put(images(blob));
  expect(answer.body["message"]).toMatch(/blob too big \(maximum 2000000, got 20000\d\d\)/);
});

test("the simulated Bluesky refuses a blob upload that is too large or empty, or that has no content type or no valid token", async () => {
  const nsid = "com.atproto.repo.uploadBlob";
  const large = await send(nsid, Buffer.alloc(50_000_001), "image/png");
  expect([large.status, large.body["error"]]).toEqual([413, "PayloadTooLarge"]);
  expect((await send(nsid, pngBytes(), undefined)).body["error"]).toBe("InvalidRequest");
  expect((await send(nsid, Buffer.alloc(0), "image/png")).body["error"]).toBe("InvalidRequest");
  const foreign = await send(nsid, pngBytes(), "image/png", "nonsense");
  expect(foreign.body["error"]).toBe("InvalidToken");
});

test("the simulated Bluesky processes an uploaded video, and then a post can reference the video's blob", async () => {
  const begun = await uploadVideo(mp4Bytes());
  expect(begun.body["jobStatus"]).toMatchObject({ state: "JOB_STATE_CREATED" });
  const working = await jobOf(begun);
  expect(working["state"]).not.toBe("JOB_STATE_COMPLETED");
  expect(working["blob"]).toBeUndefined();
  await simulator.control("/clock", { advanceMs: 1200 });
  const done = await jobOf(begun);
  expect(done["state"]).toBe("JOB_STATE_COMPLETED");
  expect((await put(video(done["blob"]))).status).toBe(200);
  expect(await visible()).toEqual([[{ kind: "video", sha256: sha256(mp4Bytes()) }]]);
});

test("the simulated Bluesky returns the existing video job when the same video is uploaded again", async () => {
  const begun = await uploadVideo(mp4Bytes());
  const again = await uploadVideo(mp4Bytes());
  expect(again.status).toBe(409);
  expect(again.body).toMatchObject({
    jobId: begun.body["jobStatus"]?.["jobId"],
    error: "already_exists",
  });
  await simulator.control("/clock", { advanceMs: 1200 });
  expect((await uploadVideo(mp4Bytes())).body["blob"]).toBeDefined();
  await simulator.control("/clock", { advanceMs: 3_600_000 });
  expect((await uploadVideo(mp4Bytes())).status).toBe(200);
});

test("a simulated Bluesky video job fails when the bytes are not a video", async () => {
  const begun = await uploadVideo(pngBytes());
  await simulator.control("/clock", { advanceMs: 1200 });
  expect(await jobOf(begun)).toMatchObject({
    state: "JOB_STATE_FAILED",
    failureCode: "validation_failure",
  });
});

test("a simulated Bluesky post may contain a video that was uploaded as a blob, but no image in place of the video", async () => {
  const blob = await upload(mp4Bytes(), "video/mp4");
  expect((await put(video(blob))).status).toBe(200);
  const answer = await put(video(await upload(pngBytes())));
  expect(answer.body["message"]).toContain("expected a blob of video/mp4 (got image/png)");
});

test("the simulated Bluesky refuses a video upload with an expired token or with a token for another server, method or account", async () => {
  const nsid = `app.bsky.video.uploadVideo?did=${account.externalId}&name=a.mp4`;
  const tokens = [
    accessJwt,
    await serviceToken({ aud: "did:web:example.com" }),
    await serviceToken({ lxm: "app.bsky.video.getUploadLimits" }),
  ];
  for (const token of tokens) {
    const answer = await send(nsid, mp4Bytes(), "video/mp4", token);
    expect([answer.status, answer.body["error"]]).toEqual([401, "InvalidToken"]);
  }
  const late = await serviceToken();
  await simulator.control("/clock", { advanceMs: 60_000 });
  const answer = await send(nsid, mp4Bytes(), "video/mp4", late);
  expect(answer.body["error"]).toBe("ExpiredToken");
  expect((await uploadVideo(mp4Bytes(), { did: "did:plc:other" })).status).toBe(401);
  const past = { aud: serverDid(), exp: "1000000000" };
  const refused = await query("com.atproto.server.getServiceAuth", past);
  expect(refused.body["error"]).toBe("BadExpiration");
});

test("fault rules for the operations upload and status apply to blob uploads, video uploads and status calls of the simulated Bluesky", async () => {
  const fault = (operation: string, mode: string, status: number) =>
    simulator.control("/faults", { platform: "bluesky", operation, mode, status });
  await fault("upload", "status", 503);
  expect((await send("com.atproto.repo.uploadBlob", pngBytes(), "image/png")).status).toBe(503);
  await fault("upload", "status", 500);
  expect((await uploadVideo(mp4Bytes())).status).toBe(500);
  const begun = await uploadVideo(mp4Bytes());
  await fault("status", "status", 502);
  const jobId = textOf(begun.body["jobStatus"]?.["jobId"]);
  expect((await query("app.bsky.video.getJobStatus", { jobId })).status).toBe(502);
});

test("blobs and video jobs of the simulated Bluesky survive a restart of the simulator", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "simulator-"));
  try {
    await simulator[Symbol.asyncDispose]();
    simulator = await TestSimulator.start({ dataDir });
    await login();
    const image = await upload(pngBytes());
    const begun = await uploadVideo(mp4Bytes());
    await simulator[Symbol.asyncDispose]();
    simulator = await TestSimulator.start({ dataDir });
    await simulator.control("/clock", { advanceMs: 1200 });
    const job = await jobOf(begun);
    expect([(await put(images(image))).status, (await put(video(job["blob"]))).status]).toEqual([
      200, 200,
    ]);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});
