import { readdirSync, readFileSync } from "node:fs";

const started = new Set<number>();

/** Returns the function to call after the process has ended. */
export function trackProcess(pid: number | undefined): () => void {
  if (pid === undefined) return () => undefined;
  started.add(pid);
  return () => void started.delete(pid);
}

/**
 * The first process of a container inherits processes whose parent has ended. Those that it has not
 * started were left behind by an inspection: only a file that took over its inspection starts one.
 * None where the kernel does not list them.
 */
export function listStrayProcesses(): readonly number[] {
  return listThreads()
    .flatMap(readChildren)
    .filter((pid) => !started.has(pid));
}

function listThreads(): readonly string[] {
  try {
    return readdirSync("/proc/self/task");
  } catch {
    return [];
  }
}

function readChildren(thread: string): readonly number[] {
  try {
    const list = readFileSync(`/proc/self/task/${thread}/children`, "utf8");
    return list.split(" ").flatMap((pid) => (pid === "" ? [] : [Number(pid)]));
  } catch {
    return [];
  }
}
