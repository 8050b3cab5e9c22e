import { expect, test } from "vitest";
import type { AuthorizationConnector, Connection } from "./connector.ts";
import { limitTexts } from "./limit-texts.ts";

const signal = AbortSignal.timeout(10_000);
const CONNECTION: Connection = {
  externalId: "did:web:example.com",
  username: "example.com",
  displayName: "Example",
  tokens: { accessToken: "a", refreshToken: "b" },
  attributes: { pdsUrl: "https://example.com" },
};

function limit(connector: Partial<AuthorizationConnector>): AuthorizationConnector {
  const connect = () => Promise.resolve({ kind: "unavailable", message: "" } as const);
  return limitTexts({ baseUrl: "", connector: { connect, ...connector } }).connector;
}

function connect(changed: Partial<Connection>) {
  const connection = { ...CONNECTION, ...changed };
  const connector = limit({ connect: () => Promise.resolve({ kind: "connected", connection }) });
  return connector.connect({}, signal);
}

test.each([
  ["id", { externalId: "i".repeat(513) }],
  ["username", { username: "u".repeat(257) }],
  ["access token", { tokens: { accessToken: "t".repeat(16_385) } }],
  ["refresh token", { tokens: { accessToken: "t", refreshToken: "t".repeat(16_385) } }],
  ["address of its server", { attributes: { pdsUrl: `https://${"p".repeat(2048)}` } }],
])(
  "an account is not connected if its server answers with a longer %s than any account has",
  async (_what, changed) => {
    expect(await connect(changed)).toMatchObject({ kind: "refused" });
    const flow = {
      authorizeUrl: () => "",
      exchange: () =>
        Promise.resolve({
          kind: "granted" as const,
          connections: [CONNECTION, { ...CONNECTION, ...changed }],
        }),
    };
    const grant = { code: "", redirectUri: "", codeVerifier: "" };
    expect(await limit({ codeFlow: flow }).codeFlow?.exchange(grant, signal)).toMatchObject({
      kind: "refused",
    });
  },
);

test("what is only shown of an account is cut or left out when it is too long", async () => {
  const long = { displayName: "n".repeat(300), avatarUrl: `https://${"a".repeat(2048)}` };
  expect(await connect(long)).toMatchObject({
    kind: "connected",
    connection: { ...CONNECTION, displayName: "n".repeat(256), avatarUrl: undefined },
  });
});

test("a token whose stated lifetime no database can store gets a lifetime of ten years", async () => {
  const tokens = { accessToken: "a", lifetimeMs: 1e300, refreshLifetimeMs: Infinity };
  const lifetimeMs = 10 * 365 * 86_400_000;
  expect(await connect({ tokens })).toMatchObject({
    connection: { tokens: { lifetimeMs, refreshLifetimeMs: lifetimeMs } },
  });
});

test("a refresh that returns a longer token than any account has counts as not answered", async () => {
  const refreshing = (accessToken: string) =>
    limit({
      refresh: () => Promise.resolve({ kind: "renewed", tokens: { accessToken } }),
    }).refresh?.({ refreshToken: "r", attributes: {} }, signal);
  expect(await refreshing("t".repeat(16_385))).toMatchObject({ kind: "unavailable" });
  expect(await refreshing("t")).toEqual({ kind: "renewed", tokens: { accessToken: "t" } });
});
