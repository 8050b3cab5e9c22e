import { readFile } from "node:fs/promises";

/** What a process has used. */
export interface ProcessUsage {
  /** Of all its threads, since its start. */
  readonly cpuMs: number;
  /** Resident memory. */
  readonly memoryBytes: number;
}

const MS_PER_TICK = 10;
const PAGE_BYTES = 4096;

/**
 * Asks the kernel about a process of ours; undefined when it is gone, or on a system without /proc. Fields 14, 15 and 24
 * of `stat` (man 5 proc_pid_stat); the command's name before them may hold anything but ends at the last parenthesis.
 */
export async function readProcessUsage(pid: number): Promise<ProcessUsage | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const number = (field: number) => Number(fields[field - 3]);
  return {
    cpuMs: (number(14) + number(15)) * MS_PER_TICK,
    memoryBytes: number(24) * PAGE_BYTES,
  };
}
