import { readdirSync, readFileSync } from "node:fs";

/** The largest resident memory of the watched processes, in bytes. */
export interface MemoryPeaks {
  /** Peak of the resident memory of each watched process since its start. */
  readonly services: readonly number[];
  /**
   * Largest resident memory that was seen in a child process of the watched processes; 0 without
   * child processes.
   */
  readonly inspection: number;
  /** Largest sum of the resident memory of a watched process and its children at one time. */
  readonly together: number;
}

export interface MemoryWatch {
  /** Ends the measurement of memory and returns its results. */
  readonly stop: () => MemoryPeaks;
}

const SAMPLE_MS = 50;

/** Returns a value of /proc/PID/status in bytes; 0 when the process has ended. */
function readStatus(pid: number | string, field: "VmHWM" | "VmRSS"): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Returns the ids of the child processes of a process; an empty list when it has ended. */
function childrenOf(pid: number): readonly string[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/children`, "utf8"));
    return lists.flatMap((list) => list.split(" ").filter((one) => one !== ""));
  } catch {
    return [];
  }
}

/** Measures the memory of processes and of their child processes until stopped. */
export function watchMemory(pids: readonly number[]): MemoryWatch {
  let [inspection, together] = [0, 0];
  const sample = () => {
    for (const pid of pids) {
      const children = childrenOf(pid);
      inspection = Math.max(inspection, ...children.map((child) => readStatus(child, "VmHWM")));
      const all = [pid, ...children].map((one) => readStatus(one, "VmRSS"));
      together = Math.max(
        together,
        all.reduce((sum, one) => sum + one, 0),
      );
    }
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return { services: pids.map((pid) => readStatus(pid, "VmHWM")), inspection, together };
    },
  };
}
