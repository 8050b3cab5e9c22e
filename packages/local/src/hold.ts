import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeJsonFile } from "#src/json-file.ts";
import { identifyProcess, type ProcessIdentity, stillRuns } from "#src/process-identity.ts";

/**
 * Keeps a part of the stack down while a process runs: the hold file names that process, its holder.
 * A hold file that names no process, for example an empty one, keeps the part down until the file is removed.
 */
export function holdPart(holdDir: string, name: string, holderPid: number): void {
  mkdirSync(holdDir, { recursive: true });
  writeJsonFile(join(holdDir, name), identifyProcess(holderPid));
}

/** Returns true when a hold file names a process that has ended, and removes the file in that case. */
export function holderIsGone(file: string): boolean {
  const holder = readHolder(file);
  if (holder === undefined || stillRuns(holder)) {
    return false;
  }
  rmSync(file, { force: true });
  return true;
}

function readHolder(file: string): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isIdentity(value) ? value : undefined;
  } catch {
    // A hold file with other content keeps the part down too.
    return undefined;
  }
}

/** Whether a value that was read from a file is a process identity. */
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
