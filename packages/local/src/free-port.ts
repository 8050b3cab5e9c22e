import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { reservePort } from "#src/port-reservation.ts";

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

/**
 * Finds distinct ports that stay ours over restarts: they lie below the range from which the kernel takes the local end
 * of outgoing connections. In that range a client that keeps trying a dead server may be given the server's own port.
 * Each is reserved until this process ends, so that several launchers on one machine never choose the same one.
 */
export async function findStablePorts(count: number): Promise<number[]> {
  const highest = Math.min(lowestEphemeralPort(), 32_000) - 1;
  const lowest = Math.min(12_000, highest - 2_000);
  const found = new Set<number>();
  for (let attempt = 0; found.size < count && attempt < 1_000; attempt++) {
    const port = await probePort(randomInt(lowest, highest));
    if (port !== undefined && reservePort(port)) {
      found.add(port);
    }
  }
  if (found.size < count) {
    throw new Error(`no ${count} free TCP ports between ${lowest} and ${highest} on 127.0.0.1`);
  }
  return [...found];
}

/** Finds one such port. */
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
