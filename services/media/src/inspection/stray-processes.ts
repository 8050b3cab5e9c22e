import { readdirSync, readFileSync } from "node:fs";

/** The processes that this process has started and that may still run. */
const started = new Set<number>();

/** Records a process that this process has started. Returns the function to call after the process has ended. */
export function trackProcess(pid: number | undefined): () => void {
  if (pid === undefined) return () => undefined;
  started.add(pid);
  return () => void started.delete(pid);
}

/**
 * Returns the child processes that this process has not started. The first process of a container inherits the processes
 * whose parent has ended. The processes that it has not started were therefore left behind by an inspection: only a file that
 * took over its inspection starts one.
 *
 * @returns No process where the kernel does not list them.
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

/** Returns the child processes of a thread; none when the thread has ended. */
function readChildren(thread: string): readonly number[] {
  try {
    const list = readFileSync(`/proc/self/task/${thread}/children`, "utf8");
    return list.split(" ").flatMap((pid) => (pid === "" ? [] : [Number(pid)]));
  } catch {
    return [];
  }
}
