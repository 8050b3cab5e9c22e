import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeJsonFile } from "#src/processes/json-file.ts";
import {
  identifyProcess,
  type ProcessIdentity,
  stillRuns,
} from "#src/processes/process-identity.ts";

/**
 * While `holderPid` runs. A hold file that names no process, for example an empty one, keeps the
 * process down until it is removed.
 */
export function holdPart(holdDir: string, name: string, holderPid: number): void {
  mkdirSync(holdDir, { recursive: true });
  writeJsonFile(join(holdDir, name), identifyProcess(holderPid));
}

/** Removes the hold file if its process has ended. */
export function holderIsGone(file: string): boolean {
  const holder = readHolder(file);
  if (holder === undefined || stillRuns(holder)) return false;

  rmSync(file, { force: true });
  return true;
}

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
