import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Forwarder, startForwarder } from "#src/processes/forwarder.ts";

let servers: Server[];
let forwarder: Forwarder;

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

beforeEach(async () => {
  servers = await Promise.all(
    ["first", "second"].map(async (name) => {
      const server = createServer((_request, response) => {
        response.setHeader("connection", "close");
        response.end(name);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  forwarder = await startForwarder(0, servers.map(portOf));
});

afterEach(async () => {
  await forwarder[Symbol.asyncDispose]();
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

async function ask(): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${forwarder.port}/`)).text();
}

test("the TCP forwarder sends connections to its backends in turn", async () => {
  expect([await ask(), await ask(), await ask()]).toEqual(["first", "second", "first"]);
});

test("the TCP forwarder accepts connections while at least one backend runs", async () => {
  servers[0]?.close();

  expect([await ask(), await ask(), await ask()]).toEqual(["second", "second", "second"]);
});

test("the TCP forwarder sends no connection to a backend that is not ready while another backend is ready", async () => {
  const [first = 0, second = 0] = servers.map(portOf);
  const unready = new Set([first]);
  await using picky = await startForwarder(0, [first, second], (port) => !unready.has(port));
  const read = async () => await (await fetch(`http://127.0.0.1:${picky.port}/`)).text();

  expect([await read(), await read(), await read()]).toEqual(["second", "second", "second"]);

  unready.add(second);
  expect([await read(), await read()].toSorted()).toEqual(["first", "second"]);
});

test("the TCP forwarder closes a connection when no backend runs, and continues to accept connections", async () => {
  for (const server of servers) server.close();

  await expect(ask()).rejects.toThrow("fetch failed");
  await expect(ask()).rejects.toThrow("fetch failed");
});
