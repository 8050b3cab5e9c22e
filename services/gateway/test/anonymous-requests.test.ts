import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { createTestServer, MEDIA_ID } from "./fixture.ts";
import { startMediaStandIn } from "./media-stand-in.ts";

let port = 0;

const media = await startMediaStandIn();
media.handle((request, response) => {
  request.resume().once("end", () => response.writeHead(204).end());
});
const app = await createTestServer(
  {
    mediaUrl: media.url,
    authorizations: {
      findConnectLink: () => ({ outcome: "unknown" }),
      openConnectLink: () => ({ outcome: "unknown" }),
      finishAuthorization: () => ({ outcome: "unknown_state" }),
    },
  },
  () => ({
    kind: "unauthenticated",
    limit: { policy: "address", quota: 120, windowSeconds: 60, remaining: 1, resetSeconds: 1 },
  }),
);
await app.listen({ host: "127.0.0.1", port: 0 });
({ port } = app.server.address() as AddressInfo);
afterAll(async () => {
  await app.close();
  await media[Symbol.asyncDispose]();
});

/** Sends the bytes of a request and returns the status of its answer; 0 when there is no answer. */
async function statusOf(request: string): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const said = text(socket).catch(() => "");
  socket.end(Buffer.from(request, "latin1"));
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(await said)?.[1] ?? 0);
}

const PIECES = [
  "..",
  ".",
  "",
  "%2e%2e",
  "%2f",
  "%00",
  "%0a",
  "%0d%0a",
  "%",
  "%ff",
  "%F0%9F%98%80",
  "\u00e9",
  "*",
  ":",
  ";",
  "@",
  "__proto__",
  "constructor",
  "t".repeat(43),
  MEDIA_ID,
];
const piece = fc.oneof(fc.constantFrom(...PIECES), fc.stringMatching(/^[!-~]{0,12}$/));
const path = fc
  .tuple(
    fc.constantFrom("uploads", "media", "connect", "connect/callback", "docs", "api/v1", "livez"),
    fc.array(piece, { maxLength: 2 }),
  )
  .map((parts) => `/${parts.flat().join("/")}`);
const query = fc
  .array(fc.tuple(fc.constantFrom("token", "state", "code", "error", "__proto__"), piece), {
    maxLength: 3,
  })
  .map((pairs) => pairs.map((pair) => pair.join("=")).join("&"));
const header = fc.tuple(
  fc.constantFrom(
    "authorization",
    "accept-language",
    "content-type",
    "content-digest",
    "content-length",
    "cookie",
    "if-none-match",
    "if-range",
    "origin",
    "range",
    "traceparent",
    "transfer-encoding",
    "x-forwarded-for",
    "x-request-id",
    "x-workspace-id",
  ),
  fc.oneof(
    piece,
    fc.constantFrom("Bearer \u00ff", "bytes=0-", "bytes=-9", "chunked", "a=b;c", "7"),
  ),
);

test("an unauthenticated request is never answered with an internal error, whatever its path, query and headers", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("GET", "HEAD", "PUT", "POST", "OPTIONS", "DELETE", "PATCH"),
      path,
      query,
      fc.array(header, { maxLength: 4 }),
      async (method, target, parameters, headers) => {
        const lines = headers.map(([name, value]) => `${name}: ${value}`);
        const head = [
          `${method} ${target.replaceAll(/[ #?]/g, "")}?${parameters} HTTP/1.1`,
          "host: a",
        ];
        const request = [...head, ...lines, "connection: close", "", "body"].join("\r\n");
        const status = await statusOf(request);
        expect(status, request).toBeLessThan(500);
      },
    ),
    { numRuns: 1_000, seed: 1 },
  );
});
