import { linkSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { isIdentity } from "#src/processes/hold.ts";
import { writeJsonFile } from "#src/processes/json-file.ts";
import { identifyProcess, stillRuns } from "#src/processes/process-identity.ts";

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
  try {
    const holder: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isIdentity(holder) && stillRuns(holder);
  } catch {
    // The reservation file is missing, because the process that reserved the port has just ended and removed it.
    return false;
  }
}
