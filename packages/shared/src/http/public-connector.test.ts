import { type AddressInfo, createServer, type Server } from "node:net";
import { Agent, request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AllowedAddress } from "./addresses.ts";
import { createPublicConnector } from "./public-connector.ts";

/** A server in our own network, which must not be reachable. */
let inside: Server;
let connections = 0;
beforeAll(async () => {
  inside = createServer((socket) => {
    connections += 1;
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ninside");
  });
  await new Promise<void>((resolve) => {
    inside.listen(0, "127.0.0.1", resolve);
  });
});
afterAll(() => void inside.close());

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function ask(
  url: string,
  addresses: readonly string[],
  allow: readonly AllowedAddress[] = [],
): Promise<unknown> {
  const connect = createPublicConnector({
    connectMs: 2_000,
    rules: () => ({ allow }),
    resolve: async () => await Promise.resolve(addresses),
  });
  const agent = new Agent({ connect });
  try {
    const answer = await request(url, { dispatcher: agent });
    return await answer.body.text();
  } catch (error) {
    return error instanceof Error && "failure" in error ? error.failure : error;
  } finally {
    await agent.destroy();
  }
}

test.each<[string, readonly string[]]>([
  ["http://127.0.0.1:PORT/", []],
  ["https://127.0.0.1:PORT/", []],
  ["http://[::ffff:127.0.0.1]:PORT/", []],
  ["http://0x7f.1:PORT/", []],
  ["http://169.254.169.254/latest/meta-data/", []],
  ["http://localhost:PORT/", ["127.0.0.1"]],
  ["http://postgres.svc.cluster.local:PORT/", ["10.0.0.1"]],
  ["https://pds.example.com:PORT/", ["127.0.0.1"]],
  ["https://pds.example.com:PORT/", ["192.0.2.1", "10.0.0.1"]],
  ["http://pds.example.com:PORT/", ["8.8.8.8", "::1"]],
])(
  "a client that may connect only to public addresses does not connect to %s (addresses of the host name: %j)",
  async (url, addresses) => {
    expect(await ask(url.replace("PORT", String(portOf(inside))), addresses)).toBe(
      "address_not_allowed",
    );
    expect(connections).toBe(0);
  },
);

test("a client that may connect only to public addresses connects to a private address that the operator allows, under any host name", async () => {
  const port = portOf(inside);
  const allow = [{ address: "127.0.0.1", fromPort: port, toPort: port }];
  for (const host of ["pds.example.com", "127.0.0.1"])
    expect(await ask(`http://${host}:${port}/`, ["127.0.0.1"], allow)).toBe("inside");
});
