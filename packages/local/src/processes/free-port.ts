import { randomInt } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { readHolder } from "#src/processes/hold.ts";
import { writeJsonFile } from "#src/processes/json-file.ts";
import { identifyProcess, stillRuns } from "#src/processes/process-identity.ts";

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

/** Folder with one file for each reserved port; the file identifies the process that reserved it. */
const folder = join(tmpdir(), `postrider-ports-${userInfo().uid}`);
const reserved = new Set<number>();

/**
 * Reserves a port until this process ends. Without a reservation, another launcher could take the port while no process
 * listens on it: between the choice of the port and the start of its server, and while a process of the stack is down.
 *
 * @returns False when another running process has reserved the port.
 */
export function reservePort(port: number): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (reserved.size === 0) process.once("exit", releaseAll);
  const file = join(folder, String(port));
  const own = join(folder, `own-${process.pid}`);
  writeJsonFile(own, identifyProcess(process.pid));
  try {
    if (!links(own, file)) {
      if (reserved.has(port) || isHeld(file)) return false;
      rmSync(file, { force: true });
      if (!links(own, file)) return false;
    }
  } finally {
    rmSync(own, { force: true });
  }
  reserved.add(port);
  return true;
}

function releaseAll(): void {
  for (const port of reserved) rmSync(join(folder, String(port)), { force: true });
}

/**
 * Creates a hard link and returns whether that succeeded. Creating a link is atomic: only one of two concurrent
 * processes reserves the port.
 */
function links(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function isHeld(file: string): boolean {
  const holder = readHolder(file);
  return holder !== undefined && stillRuns(holder);
}
