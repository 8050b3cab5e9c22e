import { readFileSync, readlinkSync } from "node:fs";

/** Against reused pids. `bootId` and `startTicks` (clock ticks since boot) are from `/proc`. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTicks: number;
  readonly bootId: string;
}

/** Undefined when it does not run (a zombie does not run). */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  const parsed = stat === undefined ? undefined : parseProcStat(stat);
  if (parsed === undefined || parsed.state === "Z" || parsed.state === "X") return undefined;

  return { pid, startTicks: parsed.startTicks, bootId: bootId() };
}

/** A process that SIGSTOP stopped counts as running. */
export function stillRuns(identity: ProcessIdentity): boolean {
  const now = identifyProcess(identity.pid);
  return (
    now !== undefined && now.startTicks === identity.startTicks && now.bootId === identity.bootId
  );
}

/** Fields are counted from the last parenthesis: the command name may contain parentheses. */
export function parseProcStat(line: string): { state: string; startTicks: number } | undefined {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  const startTicks = Number(fields[19]);
  if (state === undefined || state === "" || !Number.isSafeInteger(startTicks)) return undefined;

  return { state, startTicks };
}

export function commandLine(pid: number): string[] {
  return (readProc(`/proc/${pid}/cmdline`) ?? "").split("\0").filter((part) => part !== "");
}

export function executablePath(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}

function bootId(): string {
  return (readProc("/proc/sys/kernel/random/boot_id") ?? "").trim();
}

// A process may end between two reads, so a file that cannot be read means that the process has
// ended.
function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
