import { readFileSync } from "node:fs";

/** The letter of the process in /proc: T is stopped. Undefined when the process does not exist. */
function stateOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  } catch {
    return undefined;
  }
}

/** Whether the process runs or is stopped; a zombie does neither. */
export function isAlive(pid: number): boolean {
  const state = stateOf(pid);
  return state !== undefined && state !== "Z";
}

/** The processes among these that SIGSTOP holds. */
export function stoppedAmong(pids: readonly number[]): readonly number[] {
  return pids.filter((pid) => stateOf(pid) === "T");
}
