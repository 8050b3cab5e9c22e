import { createServer } from "node:net";

/**
 * Answers whether a TCP port of an IPv4 address can be listened on right now.
 *
 * @param port 0 asks the kernel for any free port.
 * @returns The port that was bound (and is free again), or undefined when it is taken or not allowed.
 */
export function probePort(port: number, host = "127.0.0.1"): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === "object" && address !== null ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}

/** Finds a TCP port of the loopback address that nobody listens on. */
export async function freePort(): Promise<number> {
  const port = await probePort(0);
  if (port === undefined) {
    throw new Error("no free TCP port on 127.0.0.1");
  }
  return port;
}

/**
 * Finds several distinct free ports.
 * They are held together until all are found, so that the kernel cannot give the same one twice.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listenAnywhere()));
  const ports = servers.map((server) => server.port);
  await Promise.all(servers.map((server) => server.close()));
  return ports;
}

async function listenAnywhere(): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ port: 0, host: "127.0.0.1" }, resolve);
  await promise;
  const address = server.address();
  if (typeof address !== "object" || address === null) {
    throw new Error("a listening socket has no address");
  }
  return {
    port: address.port,
    close: () => new Promise((done) => server.close(() => done())),
  };
}
