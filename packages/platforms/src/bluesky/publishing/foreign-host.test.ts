import { type AddressInfo, createServer, type Server } from "node:net";
import { EnvReader } from "@postrider/shared/config";
import { readOutboundRules } from "@postrider/shared/http/outbound-rules";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callPlatform } from "#src/http/call-platform.ts";
import { limitForeignHosts } from "#src/http/foreign-hosts.ts";
import { sendOnce } from "#src/http/send-once.ts";
import { toRequest } from "#src/publishing/caller.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { isOwnersHost, lookForRecord, openBluesky, toPost, toSite } from "./xrpc.ts";

/** A server at a private address, which the Bluesky connector must not reach for an account. */
let privateServer: Server;
let connections = 0;
let account: AccountAccess;
beforeAll(async () => {
  privateServer = createServer((socket) => {
    connections += 1;
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"uri":"x"}');
  });
  await new Promise<void>((resolve) => {
    privateServer.listen(0, "127.0.0.1", resolve);
  });
  const pdsUrl = `http://127.0.0.1:${(privateServer.address() as AddressInfo).port}`;
  account = {
    externalId: "did:plc:a",
    username: "a",
    accessToken: "token",
    attributes: { pdsUrl },
  };
});
afterAll(() => void privateServer.close());

const BASE_URL = "http://unused.example.com";
const signal = AbortSignal.timeout(10_000);
const guard = { mayStillSend: () => true, timeoutMs: 5_000 };

test("the Bluesky connector does not connect to a private address that an account names as its own Bluesky server", async () => {
  const visible = toRequest(toSite(BASE_URL, account), toPost("com.atproto.repo.putRecord", {}));
  expect(await sendOnce(visible, guard)).toMatchObject({ kind: "not_connected" });
  expect(await callPlatform(visible, signal)).toMatchObject({ kind: "no_answer" });
  expect(await lookForRecord(openBluesky(BASE_URL)(account, signal), "rkey")).toBe("unreadable");
  expect(connections).toBe(0);
});

/**
 * Calls the account's own Bluesky server in every way in which the Bluesky connector calls it, with
 * these outbound settings.
 */
async function callHost(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  limitForeignHosts(readOutboundRules(new EnvReader(env)));
  const visible = toRequest(toSite(BASE_URL, account), toPost("com.atproto.repo.putRecord", {}));
  try {
    return [
      (await sendOnce(visible, guard)).kind,
      (await callPlatform(visible, signal)).kind,
      await lookForRecord(openBluesky(BASE_URL)(account, signal), "rkey"),
    ];
  } finally {
    limitForeignHosts({ allow: [] });
  }
}

test("the Bluesky connector connects to an account's own Bluesky server only if OUTBOUND_ALLOW and OUTBOUND_DENY allow the server's address", async () => {
  const { port } = new URL(account.attributes.pdsUrl ?? "");
  const OUTBOUND_ALLOW = `127.0.0.1:${port}`;
  const refused = ["not_connected", "no_answer", "unreadable"];
  const before = connections;
  expect(await callHost({ OUTBOUND_ALLOW, OUTBOUND_DENY: "127.0.0.0/8" })).toEqual(refused);
  expect(connections).toBe(before);
  expect(await callHost({ OUTBOUND_ALLOW })).toEqual(["answer", "answer", "present"]);
  expect(connections).toBe(before + 3);
});

test("the Bluesky connector connects to a private address that the operator configured as the host of Bluesky", async () => {
  const { pdsUrl = "" } = account.attributes;
  const configured = { ...account, attributes: {} };
  const connectionsBefore = connections;
  expect(await lookForRecord(openBluesky(pdsUrl)(configured, signal), "rkey")).toBe("present");
  expect(connections).toBe(1 + connectionsBefore);
});

test.each([
  ["the configured host of Bluesky is not run by the account's owner", undefined, false],
  [
    "one of Bluesky's own repository hosts is not run by the account's owner",
    "https://morel.us-east.host.bsky.network",
    false,
  ],
  ["another host is run by the account's owner", "https://pds.example.com", true],
  [
    "a host whose name only contains that of Bluesky's hosts is run by the account's owner",
    "https://a.host.bsky.network.example.com",
    true,
  ],
])(
  "isOwnersHost of the Bluesky connector tells whether an account's repository is on a server of the account's owner: %s",
  (_what, pdsUrl, expected) => {
    const attributes = pdsUrl === undefined ? {} : { pdsUrl };
    expect(isOwnersHost({ ...account, attributes })).toBe(expected);
  },
);
