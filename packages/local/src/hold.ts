import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeJsonFile } from "#src/json-file.ts";
import { identifyProcess, type ProcessIdentity, stillRuns } from "#src/process-identity.ts";

/**
 * Keeps a part of the stack down for as long as a process lives: the file names its holder.
 * A file that names no process, for example an empty one, holds until it is removed.
 */
export function holdPart(holdDir: string, name: string, holderPid: number): void {
  mkdirSync(holdDir, { recursive: true });
  writeJsonFile(join(holdDir, name), identifyProcess(holderPid));
}

/** Answers whether a hold file names a process that has ended, and removes it then. */
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
    // Any file of that name holds, whatever is in it.
    return undefined;
  }
}

/** Checks the shape of an identity that was read from a file. */
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
