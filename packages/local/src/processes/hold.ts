import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeJsonFile } from "#src/processes/json-file.ts";
import {
  identifyProcess,
  type ProcessIdentity,
  stillRuns,
} from "#src/processes/process-identity.ts";

/**
 * Keeps one process of the local stack from being restarted while the process `holderPid` runs. The hold file names the
 * holder. A hold file that names no process, for example an empty one, keeps the process down until the file is
 * removed.
 */
export function holdPart(holdDir: string, name: string, holderPid: number): void {
  mkdirSync(holdDir, { recursive: true });
  writeJsonFile(join(holdDir, name), identifyProcess(holderPid));
}

/**
 * Returns true when the process that a hold file names has ended, and removes the hold file in that case. A hold file
 * keeps a process of the local stack down.
 */
export function holderIsGone(file: string): boolean {
  const holder = readHolder(file);
  if (holder === undefined || stillRuns(holder)) return false;

  rmSync(file, { force: true });
  return true;
}

/** Reads which process a hold file or a reservation names. */
export function readHolder(file: string): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isIdentity(value) ? value : undefined;
  } catch {
    // A hold file that names no process, for example an empty one, is valid too.
    return undefined;
  }
}

export function isIdentity(value: unknown): value is ProcessIdentity {
  return (
    typeof value === "object" &&
    value !== null &&
    "pid" in value &&
    typeof value.pid === "number" &&
    "startTicks" in value &&
    typeof value.startTicks === "number" &&
    "bootId" in value &&
    typeof value.bootId === "string"
  );
}
