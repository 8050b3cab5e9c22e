import { readFile } from "node:fs/promises";

/** Processor time and memory that a process has used so far. */
export interface ProcessUsage {
  /** Processor time of all threads of the process since its start. */
  readonly cpuMs: number;
  /** Current resident memory of the process. */
  readonly memoryBytes: number;
}

export type ReadProcessUsage = (pid: number) => Promise<ProcessUsage | undefined>;

const MS_PER_TICK = 10;
const PAGE_BYTES = 4096;

/**
 * Reads the usage of a process from `/proc/<pid>/stat`: fields 14, 15 and 24 (man 5 proc_pid_stat). The second field,
 * the command's name in parentheses, may contain spaces, so counting starts after the last parenthesis.
 *
 * @returns undefined when the usage cannot be read, for example because the process has ended. On systems without `/proc` the time
 *   that has passed counts as processor time, and the memory as 0.
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
