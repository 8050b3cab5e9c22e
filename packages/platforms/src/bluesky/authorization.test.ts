import { createServer, type RequestListener } from "node:http";
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

const RESOLVE_HANDLE = "/xrpc/com.atproto.identity.resolveHandle";
const CREATE_SESSION = "/xrpc/com.atproto.server.createSession";

/** Connects an account with a server on this host, which answers the given status and body. */
async function connectAt(
  host: string,
  identifier: string,
  answer: (path: string) => readonly [status: number, body: object],
) {
  const asked: string[] = [];
  const listener: RequestListener = ({ url = "" }, response) => {
    const [path = ""] = url.split("?");
    asked.push(path);
    const [status, body] = answer(path);
    response.writeHead(status).end(JSON.stringify(body));
  };
  await using server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  const { connect } = createBlueskyAuthorizationConnector({ baseUrl: url, plcUrl: url });
  const credentials = { identifier, appPassword: "secret" };
  return { asked, result: await connect?.(credentials, AbortSignal.timeout(10_000)) };
}

test.each([
  ["does not answer", 503, {}, "unavailable"],
  ["does not know the account", 404, {}, "refused"],
  ["names a server without HTTPS", 200, { service: [INSECURE] }, "refused"],
])(
  "no app password is sent while the directory of the servers of accounts %s",
  async (_what, status, document, kind) => {
    const { asked, result } = await connectAt("127.0.0.1", "owner.example.com", (path) => {
      if (path.endsWith("resolveHandle")) return [200, { did: "did:plc:owner" }];
      if (path.endsWith("getRepoStatus")) return [400, { error: "RepoNotFound" }];
      return [status, { id: "did:plc:owner", ...document }];
    });
    expect(result).toMatchObject({ kind });
    expect(asked.slice(0, 2)).toEqual([RESOLVE_HANDLE, "/did:plc:owner"]);
    expect(asked).not.toContain(CREATE_SESSION);
  },
);

test.each([
  ["owner.example.com", [RESOLVE_HANDLE], "finds no account with this handle"],
  ["owner.LOCALHOST", [RESOLVE_HANDLE, CREATE_SESSION], "taken down"],
])(
  "the app password of %s, whose handle the configured server localhost does not resolve, is sent to that server only if the handle is on its domain",
  async (handle, calls, message) => {
    const { asked, result } = await connectAt("localhost", handle, (path) =>
      path === RESOLVE_HANDLE
        ? [400, { error: "InvalidRequest" }]
        : [401, { error: "AccountTakedown" }],
    );
    expect(asked).toEqual(calls);
    const text: unknown = expect.stringContaining(message);
    expect(result).toEqual({ kind: "refused", message: text });
  },
);
