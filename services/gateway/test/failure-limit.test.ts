import { connect } from "node:net";
import { conflict, invalidRequest, notFound } from "@postrider/shared/errors";
import { signToken } from "@postrider/shared/secrets/signed-token";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { createTestServer, MEDIA_ID, MEDIA_KEY, WORKSPACE_ID } from "./fixture.ts";
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
const app = await createTestServer({
  mediaUrl: media.url,
  media: { batchGetMedia, createUpload },
  // One remote address may use half of the permits for uploads, which is more than the number of
  // concurrent uploads of this test.
  maxInFlight: 1_024,
  trustedProxies: ["127.0.0.1"],
});
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

const refuseUnknown = () => media.handle((_request, response) => refuse(response, notFound()));
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

test("uploads with unknown tokens are limited per client address, and an upload beyond the limit does not reach the media service", async () => {
  refuseUnknown();
  const { before, answer } = await untilLimited(() => uploadFrom("192.0.2.1"));
  expect(before).toBeGreaterThanOrEqual(FAILURES);
  await expectRefusal(answer);
  expect(media.seen.length).toBe(before);
  acceptAll();
  expect((await uploadFrom("192.0.2.2")).status).toBe(204);
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

test("concurrent uploads with unknown tokens all count towards the limit of failed uploads, and exceeding the limit prolongs the client's wait", async () => {
  const waiting: (() => void)[] = [];
  media.handle((_request, response) => void waiting.push(() => refuse(response, notFound())));
  const count = FAILURES + 80;
  // An upload grant allows one upload at a time, so each upload of this test has a grant with a
  // token of its own.
  const answers = Array.from({ length: count }, (_unused, index) =>
    uploadFrom("192.0.2.4", `?token=t${index}`),
  );
  await eventually(() => waiting.length === count);
  for (const answer of waiting) answer();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(
    Array.from({ length: count }, () => 404),
  );
  const refused = await uploadFrom("192.0.2.4");
  await expectRefusal(refused);
  // The limit was exceeded by 80 failures. At two per second, they stop counting only after 40
  // seconds.
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(20);
});

test("an upload that the client aborts before the media service answers counts towards the limit of failed uploads", async () => {
  const head = `PUT /uploads/${MEDIA_ID}?token=t HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.5`;
  for (let times = 0; times < FAILURES; times++) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const isCut = Promise.withResolvers<void>();
    media.handle((request) => {
      request.resume().once("close", isCut.resolve);
      socket.destroy();
    });
    socket.write(`${head}\r\nContent-Length: 99\r\n\r\nabc`);
    await isCut.promise;
  }
  refuseUnknown();
  await expectRefusal((await untilLimited(() => uploadFrom("192.0.2.5"))).answer);
  expect(media.seen.length).toBeLessThan(FAILURES / 2);
});

test("uploads with a valid upload grant never count towards the limit of failed uploads", async () => {
  acceptAll();
  for (let times = 0; times < FAILURES + 20; times++)
    expect((await uploadFrom("192.0.2.10")).status).toBe(204);
  media.handle((_request, response) => refuse(response, conflict("upload_already_received")));
  for (let times = 0; times < FAILURES + 20; times++)
    expect((await uploadFrom("192.0.2.10")).status).toBe(409);
});

test("a grant that the gateway gave out works from an address beyond the limit of failed uploads, and its interrupted uploads do not count", async () => {
  const answer = await app.inject({
    method: "POST",
    url: "/api/v1/media/presign",
    headers: { authorization: `Bearer ${WORKSPACE_ID}` },
    payload: { fileName: "a.png", contentType: "image/png", bytes: 99 },
  });
  const { uploadToken } = answer.json<{ uploadToken: string }>();
  const head = `PUT /uploads/${MEDIA_ID}?token=${uploadToken} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.11`;
  for (let times = 0; times < FAILURES + 20; times++) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const isCut = Promise.withResolvers<void>();
    media.handle((request) => {
      request.resume().once("close", isCut.resolve);
      socket.destroy();
    });
    socket.write(`${head}\r\nContent-Length: 99\r\n\r\nabc`);
    await isCut.promise;
  }
  refuseUnknown();
  const { before } = await untilLimited(() => uploadFrom("192.0.2.11", "?token=unknown"));
  expect(before).toBeGreaterThanOrEqual(FAILURES);
  media.handle((_request, response) => refuse(response, invalidRequest()));
  expect((await uploadFrom("192.0.2.11", `?token=${uploadToken}`)).status).toBe(400);
  acceptAll();
  expect((await uploadFrom("192.0.2.11", `?token=${uploadToken}`)).status).toBe(204);
  await expectRefusal(await uploadFrom("192.0.2.11", `?token=${uploadToken}`));
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
    const answer = await fetchFrom("192.0.2.23", rightToken());
    expect([answer.status, await answer.text()]).toEqual([200, "bytes"]);
  }
  expect((await fetchFrom("192.0.2.23", "invented")).status).toBe(404);
  await untilLimited(() => fetchFrom("192.0.2.23", "invented"));
  acceptAll();
  expect((await uploadFrom("192.0.2.23")).status).toBe(204);
});
