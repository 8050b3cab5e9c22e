import { afterEach, expect, test } from "vitest";
import { createBlueskyAuthorizationConnector } from "#src/bluesky/authorization.ts";
import { limitForeignHosts } from "#src/http/foreign-hosts.ts";
import { signal, startTestPlatform } from "../test-platform.ts";

const platform = await startTestPlatform("bluesky");
const { connect, refresh } = createBlueskyAuthorizationConnector({
  baseUrl: platform.url,
  plcUrl: `${platform.url}/plc`,
});
const otherServer = `${platform.url}/other-pds`;

/**
 * Allows calls to the simulated Bluesky server of an account owner, which has a private address and
 * no HTTPS.
 */
const allowOtherServer = () =>
  limitForeignHosts({ allow: [{ address: "127.0.0.1", fromPort: 1, toPort: 65_535 }] });
afterEach(() => limitForeignHosts({ allow: [] }));

const createAccount = (username: string) => platform.createAccount({ username });

test("a Bluesky account whose owner runs a server is connected on the owner's server, and its session is renewed there", async () => {
  allowOtherServer();
  const { externalId, credentials } = await createAccount("alice.pds.example");
  const { identifier = "", appPassword = "" } = credentials;
  const connected = await connect({ identifier: `@${identifier}`, appPassword }, signal);
  expect(connected).toMatchObject({
    kind: "connected",
    connection: { externalId, attributes: { pdsUrl: otherServer } },
  });
  const logins = (await platform.listRequests()).filter(({ operation }) => operation === "login");
  expect(logins.map(({ path }) => path)).toEqual([
    "/other-pds/xrpc/com.atproto.server.createSession",
  ]);
  if (connected.kind !== "connected") return;
  const { attributes, tokens } = connected.connection;
  const current = { refreshToken: tokens.refreshToken ?? "", attributes };
  expect(await refresh?.(current, signal)).toMatchObject({ kind: "renewed" });
});

test("a Bluesky account on the configured Bluesky server is connected on that server, whatever the domain of its handle", async () => {
  for (const username of ["bob", "carol.example.org"]) {
    const { externalId, credentials } = await createAccount(username);
    expect(await connect(credentials, signal)).toMatchObject({
      kind: "connected",
      connection: { externalId, attributes: {} },
    });
  }
});

test("the password of a Bluesky account is never sent to a server whose address is not allowed", async () => {
  const { credentials } = await createAccount("dave.pds.example");
  expect(await connect(credentials, signal)).toMatchObject({ kind: "refused" });
  const paths = (await platform.listRequests()).map(({ path }) => path);
  expect(paths.filter((path) => path.includes("createSession"))).toEqual([]);
});
