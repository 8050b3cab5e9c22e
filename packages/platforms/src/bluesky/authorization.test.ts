import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createBlueskyAuthorizationConnector } from "./authorization.ts";

const INSECURE = {
  type: "AtprotoPersonalDataServer",
  serviceEndpoint: "http://pds.example.com",
};

test("the Bluesky connector contacts no private address from an account's DID document to refresh or end a session", async () => {
  let requests = 0;
  const inside = createServer((_request, response) => {
    requests += 1;
    response.end('{"accessJwt":"a","refreshJwt":"b"}');
  });
  await new Promise<void>((resolve) => {
    inside.listen(0, "127.0.0.1", resolve);
  });
  const pdsUrl = `http://127.0.0.1:${(inside.address() as AddressInfo).port}`;
  const tokens = { accessToken: "access token", refreshToken: "refresh token" };
  const foreign = { ...tokens, attributes: { pdsUrl } };
  const signal = AbortSignal.timeout(10_000);
  const { refresh, revoke } = createBlueskyAuthorizationConnector({
    baseUrl: "http://unused.example.com",
    plcUrl: "http://unused.example.com",
  });
  expect(await refresh?.(foreign, signal)).toMatchObject({ kind: "unavailable" });
  expect(await revoke?.(foreign, signal)).toMatchObject({ kind: "unavailable" });
  expect(requests).toBe(0);

  // An address that the operator configured may be private; an address that an account states may
  // not.
  const configured = createBlueskyAuthorizationConnector({ baseUrl: pdsUrl, plcUrl: pdsUrl });
  expect(await configured.refresh?.({ ...tokens, attributes: {} }, signal)).toMatchObject({
    kind: "renewed",
  });
  inside.close();
});

test.each([
  ["does not answer", 503, {}, "unavailable"],
  ["does not know the account", 404, {}, "refused"],
  ["names a server without HTTPS", 200, { service: [INSECURE] }, "refused"],
])(
  "no app password is sent while the directory of the servers of accounts %s",
  async (_what, status, document, kind) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const [path = ""] = request.url?.split("?") ?? [];
      asked.push(path);
      if (path.endsWith("resolveHandle")) return response.end('{"did":"did:plc:owner"}');
      if (path.endsWith("getRepoStatus"))
        return response.writeHead(400).end('{"error":"RepoNotFound"}');
      return response.writeHead(status).end(JSON.stringify({ id: "did:plc:owner", ...document }));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { connect } = createBlueskyAuthorizationConnector({ baseUrl: url, plcUrl: url });
    const credentials = { identifier: "owner.example.com", appPassword: "secret" };
    const result = await connect?.(credentials, AbortSignal.timeout(10_000));
    expect(result).toMatchObject({ kind });
    expect(asked.slice(0, 2)).toEqual([
      "/xrpc/com.atproto.identity.resolveHandle",
      "/did:plc:owner",
    ]);
    expect(asked).not.toContain("/xrpc/com.atproto.server.createSession");
    server.close();
  },
);
