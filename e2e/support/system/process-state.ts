import { readFileSync } from "node:fs";

/**
 * Returns the state letter of the process from /proc/PID/stat (T = suspended). Undefined when the
 * process does not exist.
 */
function stateOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  } catch {
    return undefined;
  }
}

/** Whether the process exists and is not a zombie; a suspended process counts as existing. */
export function isAlive(pid: number): boolean {
  const state = stateOf(pid);
  return state !== undefined && state !== "Z";
}

/** Returns those of the given process ids whose process a signal has suspended. */
export function stoppedAmong(pids: readonly number[]): readonly number[] {
  return pids.filter((pid) => stateOf(pid) === "T");
}
