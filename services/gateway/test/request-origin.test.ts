import { createLogger } from "@postrider/shared/telemetry/logger";
import { findContext, type RequestOrigin } from "@postrider/shared/telemetry/request-context";
import { afterEach, expect, test } from "vitest";
import { ACCOUNT_ID, admitted, createTestServer } from "./fixture.ts";

const KEY_ID = "01936a5e-7d2b-7000-8000-0000000000f1";

let seen: RequestOrigin | undefined;
let app: Awaited<ReturnType<typeof createTestServer>> | undefined;
afterEach(() => app?.close());

function note() {
  seen = findContext()?.origin;
}

const lines: string[] = [];

async function open(trustedProxies: readonly string[] = []) {
  lines.length = 0;
  const destination = { write: (line: string) => void lines.push(line) };
  app = await createTestServer(
    {
      trustedProxies,
      accounts: { disconnectAccount: () => (note(), { revocation: "unconfirmed" }) },
      authorizations: { findConnectLink: () => (note(), { outcome: "unknown" }) },
    },
    () => admitted({ keyId: KEY_ID }),
    createLogger({ service: "gateway", level: "info", destination }),
  );
  return app;
}

const DISCONNECT = {
  method: "DELETE",
  url: `/api/v1/accounts/${ACCOUNT_ID}`,
  headers: { authorization: "Bearer key", "x-forwarded-for": "203.0.113.9, 198.51.100.7" },
  remoteAddress: "192.0.2.1",
} as const;

test.each([
  ["no proxy is trusted", [], "192.0.2.1"],
  ["the proxy in front of the gateway is trusted", ["192.0.2.1"], "198.51.100.7"],
  ["another proxy is trusted", ["192.0.2.2"], "192.0.2.1"],
])(
  "the gateway tells services the API key and the address of the client, and logs both, when %s",
  async (_, trustedProxies, address) => {
    const server = await open(trustedProxies);
    expect((await server.inject(DISCONNECT)).statusCode).toBe(204);
    expect(seen).toEqual({ keyId: KEY_ID, address });
    const answered = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(answered.find(({ route }) => route === "/api/v1/accounts/:id")).toMatchObject({
      keyId: KEY_ID,
      address,
    });
  },
);

test("the gateway tells services the address of a browser on a connect page, and no API key", async () => {
  const server = await open();
  const url = `/connect/${"t".repeat(43)}`;
  await server.inject({ url, remoteAddress: "192.0.2.1" });
  expect(seen).toEqual({ keyId: undefined, address: "192.0.2.1" });
});
