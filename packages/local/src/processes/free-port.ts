import { randomInt } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readHolder } from "#src/processes/hold.ts";
import { writeJsonFile } from "#src/processes/json-file.ts";
import { identifyProcess, stillRuns } from "#src/processes/process-identity.ts";

/** 0 asks the kernel for any free port. Undefined when the port is taken or not permitted. */
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
 * Below the range of local ports of outgoing connections, where a client that retries a dead server
 * may be given the server's own port. Reserved until this process ends, so that launchers on one
 * machine never choose the same.
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

/** One file for each reserved port identifies the process that reserved it. */
const folder = join(tmpdir(), `postrider-ports-${process.getuid?.()}`);
const reserved = new Set<number>();

/**
 * Until this process ends: another launcher could otherwise take a port before its server starts or
 * while it is down. False when another running process has reserved it.
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

/** Creating a link is atomic: only one of two processes reserves the port. */
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
