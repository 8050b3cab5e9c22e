import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

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

export interface ProcessUsage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

export type ReadProcessUsage = (pid: number) => Promise<ProcessUsage | undefined>;

const MS_PER_TICK = 10;
const PAGE_BYTES = 4096;

/**
 * Fields 14, 15 and 24 of `/proc/<pid>/stat` (man 5 proc_pid_stat). The second field, in
 * parentheses, may contain spaces.
 *
 * @returns undefined when the process has ended. Without `/proc` the time that has passed counts as
 *   processor time, and the memory as 0.
 */
export const readProcessUsage: ReadProcessUsage = async (pid) => {
  if (process.platform !== "linux") return { cpuMs: performance.now(), memoryBytes: 0 };
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const number = (field: number) => Number(fields[field - 3]);
  const cpuMs = (number(14) + number(15)) * MS_PER_TICK;
  const memoryBytes = number(24) * PAGE_BYTES;
  return Number.isFinite(cpuMs + memoryBytes) ? { cpuMs, memoryBytes } : undefined;
};
