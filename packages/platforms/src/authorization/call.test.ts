import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { bearer } from "#src/http/platform-request.ts";
import { askPlatform, getFromTokenEndpoint, postToTokenEndpoint } from "./call.ts";

const signal = AbortSignal.timeout(10_000);
const GRANT = {
  grant_type: "refresh_token",
  refresh_token: "refresh-token-1",
  client_id: "public-client",
  client_secret: "client-secret",
};

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(handle: RequestListener): Promise<string> {
  server = createServer(handle);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
}

/** Starts a server that answers every request with the given JSON, and returns the server's URL. */
const answering = (json: string) => serve((_request, response) => void response.end(json));

test.each([
  ["in a form", postToTokenEndpoint],
  ["in the query", getFromTokenEndpoint],
])(
  "the secrets of a token request whose parameters are sent %s are redacted in the platform's error message",
  async (_name, to) => {
    const url = await answering(
      JSON.stringify({
        error_description: "refresh-token-1 of public-client is invalid, secret client-secret",
      }),
    );
    expect(await askPlatform(to(url, GRANT), signal)).toMatchObject({
      json: { error_description: "*** of public-client is invalid, secret ***" },
    });
  },
);

test("a refresh token that a token endpoint returns unchanged is not redacted", async () => {
  const url = await answering(
    JSON.stringify({ access_token: "access-token-2", refresh_token: "refresh-token-1" }),
  );
  expect(await askPlatform(postToTokenEndpoint(url, GRANT), signal)).toMatchObject({
    json: { access_token: "access-token-2", refresh_token: "refresh-token-1" },
  });
});

test("an access token that an authorization call sends in a header is redacted in the platform's answer", async () => {
  const url = await answering(JSON.stringify({ message: "access-token-1" }));
  const call = { method: "GET", url, headers: bearer("access-token-1") } as const;
  expect(await askPlatform(call, signal)).toMatchObject({ json: { message: "***" } });
});

test("an authorization call keeps all digits of ids that are too large for JavaScript numbers", async () => {
  const url = await answering('{"user_id":17841400000000000123}');
  expect(await askPlatform({ method: "GET", url }, signal)).toMatchObject({
    json: { user_id: "17841400000000000123" },
  });
});

test("an authorization call that cannot connect reports a message without the URL or its token", async () => {
  const call = getFromTokenEndpoint("http://127.0.0.1:1/token", GRANT);
  expect(await askPlatform(call, signal)).toEqual({
    kind: "unavailable",
    message: "the platform cannot be reached",
  });
});

test("an authorization call that is aborted by its deadline reports that the platform did not answer in time", async () => {
  const url = await serve(() => undefined);
  expect(await askPlatform({ method: "GET", url }, AbortSignal.timeout(50))).toEqual({
    kind: "unavailable",
    message: "the platform did not answer in time",
  });
});
