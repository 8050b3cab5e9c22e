import { conflict, invalidRequest, notFound } from "@postrider/shared/errors";
import { signToken } from "@postrider/shared/secrets/signed-token";
import { afterAll, expect, test } from "vitest";
import { createTestServer, MEDIA_ID, MEDIA_KEY, uploadTokenOf, WORKSPACE_ID } from "./fixture.ts";
import { refuse, startMediaStandIn } from "./media-stand-in.ts";

/**
 * Number of failed requests per minute that a remote address may make. While a test runs, two more
 * become available each second.
 */
const FAILURES = 120;
const MEDIA = {
  id: MEDIA_ID,
  workspaceId: WORKSPACE_ID,
  status: "ready",
  contentType: "image/png",
};
const CLAIMS = { workspace: WORKSPACE_ID, media: MEDIA_ID, rendition: "original" };

const media = await startMediaStandIn();
const batchGetMedia = () => ({ media: [MEDIA] });
const createUpload = () => ({ id: MEDIA_ID, uploadPath: MEDIA_ID, uploadToken: "given" });
const peers = {
  mediaUrl: media.url,
  media: { batchGetMedia, createUpload },
  // One remote address may use half of the permits for uploads, which is more than the number of
  // concurrent uploads of this test.
  maxInFlight: 1_024,
  trustedProxies: ["127.0.0.1"],
};
const app = await createTestServer(peers);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
afterAll(async () => {
  await app.close();
  await media[Symbol.asyncDispose]();
});

const uploadFrom = (address: string, query = "?token=t") =>
  fetch(`${url}/uploads/${MEDIA_ID}${query}`, {
    method: "PUT",
    body: "bytes",
    headers: { "x-forwarded-for": address },
  });

const fetchFrom = (address: string, token: string, method = "GET") =>
  fetch(`${url}/media/${token}`, { method, headers: { "x-forwarded-for": address } });

const rightToken = () => signToken(MEDIA_KEY, "media", CLAIMS, new Date(Date.now() + 60_000));

const acceptAll = () =>
  media.handle((request, response) => {
    request.resume().once("end", () => response.writeHead(204).end());
  });

/**
 * Repeats a request until it is rate-limited. Returns how many requests were answered before,
 * without a rate limit error.
 */
async function untilLimited(ask: () => Promise<Response>) {
  for (let before = 0; before < FAILURES * 3; before++) {
    const answer = await ask();
    if (answer.status === 429) return { before, answer };
    expect(answer.status).toBe(404);
    await answer.body?.cancel();
  }
  throw new Error("nothing was limited");
}

async function expectRefusal(answer: Response): Promise<void> {
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(answer.headers.get("ratelimit")).toMatch(/^"address";r=0;t=\d+$/);
  expect(await answer.json()).toMatchObject({
    error: { code: "rate_limited", message: expect.any(String) },
  });
}

test("uploads with unknown tokens are limited per client address, and do not reach the media service", async () => {
  acceptAll();
  const { before, answer } = await untilLimited(() => uploadFrom("192.0.2.1"));
  expect(before).toBeGreaterThanOrEqual(FAILURES);
  await expectRefusal(answer);
  expect(media.seen).toEqual([]);
});

test.each([
  ["192.0.2.3", ""],
  ["192.0.2.23", "?token=%0a"],
])(
  "uploads from %s with the query %j, which has no valid token, count towards the limit of failed uploads of their client address",
  async (address, query) => {
    await expectRefusal((await untilLimited(() => uploadFrom(address, query))).answer);
  },
);

test("uploads with a valid upload grant never count towards the limit of failed uploads, whatever the media service answers", async () => {
  const query = `?token=${uploadTokenOf("given")}`;
  const errors = [invalidRequest(), notFound(), conflict("upload_already_received")];
  for (let times = 0; times < FAILURES + 20; times++) {
    media.handle((_request, response) => refuse(response, errors[times % 3] ?? notFound()));
    expect((await uploadFrom("192.0.2.10", query)).status).not.toBe(429);
  }
  expect((await uploadFrom("192.0.2.10")).status).toBe(404);
});

test("a grant that another gateway gave out works from an address beyond the limit of failed uploads", async () => {
  await using other = await createTestServer(peers);
  const answer = await other.inject({
    method: "POST",
    url: "/api/v1/media/presign",
    headers: { authorization: `Bearer ${WORKSPACE_ID}` },
    payload: { fileName: "a.png", contentType: "image/png", bytes: 99 },
  });
  const { uploadToken } = answer.json<{ uploadToken: string }>();
  await untilLimited(() => uploadFrom("192.0.2.11"));
  acceptAll();
  expect((await uploadFrom("192.0.2.11", `?token=${uploadToken}`)).status).toBe(204);
  expect(media.seen[0]?.headers).toMatchObject({ "x-upload-token": "given" });
  // Meanwhile the limit may have let a failure through again.
  const { answer: refusal } = await untilLimited(() =>
    uploadFrom("192.0.2.11", `?token=${uploadToken}x`),
  );
  await expectRefusal(refusal);
});

const serve = () => media.handle((_request, response) => response.writeHead(200).end("bytes"));

test.each(["GET", "HEAD"])(
  "the gateway limits %s requests for downloads with invalid tokens per client address, and still answers valid ones",
  async (method) => {
    serve();
    const address = method === "GET" ? "192.0.2.20" : "192.0.2.21";
    const { before, answer } = await untilLimited(() => fetchFrom(address, "invented", method));
    expect(before).toBeGreaterThanOrEqual(FAILURES);
    if (method === "GET") await expectRefusal(answer);
    expect(media.seen).toEqual([]);
    expect((await fetchFrom(address, rightToken())).status).toBe(200);
    expect((await fetchFrom("192.0.2.22", "invented")).status).toBe(404);
  },
);

test("successful downloads never count towards the limit of failed downloads, which is separate from the limit of failed uploads", async () => {
  serve();
  for (let times = 0; times < FAILURES + 20; times++) {
    const answer = await fetchFrom("192.0.2.29", rightToken());
    expect([answer.status, await answer.text()]).toEqual([200, "bytes"]);
  }
  expect((await fetchFrom("192.0.2.29", "invented")).status).toBe(404);
  await untilLimited(() => fetchFrom("192.0.2.29", "invented"));
  expect((await uploadFrom("192.0.2.29")).status).toBe(404);
});
