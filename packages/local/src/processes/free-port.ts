import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { reservePort } from "#src/processes/port-reservation.ts";

/**
 * Checks whether a process can listen on a TCP port of an IPv4 address now.
 *
 * @param port 0 asks the kernel for any free port.
 * @returns The port that was bound and released again, or undefined when the port is taken or not permitted.
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

/**
 * Finds distinct ports that stay usable over restarts: they are below the range from which the kernel takes the local port
 * of outgoing connections. In that range a client that retries a dead server may be given the server's own port.
 * Each port is reserved until this process ends, so that several launchers on one machine never choose the same port.
 */
export async function findStablePorts(count: number): Promise<number[]> {
  const highest = Math.min(lowestEphemeralPort(), 32_000) - 1;
  const lowest = Math.min(12_000, highest - 2_000);
  const found = new Set<number>();
  for (let attempt = 0; found.size < count && attempt < 1_000; attempt++) {
    const port = await probePort(randomInt(lowest, highest));
    if (port !== undefined && reservePort(port)) found.add(port);
  }
  if (found.size < count)
    throw new Error(`no ${count} free TCP ports between ${lowest} and ${highest} on 127.0.0.1`);

  return [...found];
}

/** Finds one port that stays usable over restarts, as `findStablePorts` does for several. */
export async function findStablePort(): Promise<number> {
  const [port = 0] = await findStablePorts(1);
  return port;
}

function lowestEphemeralPort(): number {
  try {
    const range = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8");
    return Number(range.trim().split(/\s+/)[0]) || 32_768;
  } catch {
    return 32_768;
  }
}
