import { readFileSync } from "node:fs";

/** The state letter of the process in /proc/PID/stat (T = stopped). Undefined when the process does not exist. */
function stateOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  } catch {
    return undefined;
  }
}

/** Whether the process exists and is not a zombie; a stopped process counts as existing. */
export function isAlive(pid: number): boolean {
  const state = stateOf(pid);
  return state !== undefined && state !== "Z";
}

/** The processes among `pids` that SIGSTOP has stopped. */
export function stoppedAmong(pids: readonly number[]): readonly number[] {
  return pids.filter((pid) => stateOf(pid) === "T");
}
