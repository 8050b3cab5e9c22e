import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";

/**
 * Number of the field in `/proc/<pid>/stat` that contains the time at which the process started (man 5 proc_pid_stat).
 */
const START_FIELD = 22;

const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);

/**
 * Returns a text that identifies a process of this host, and that no other process gets, even with the same process id;
 * undefined when there is no such process. On systems without `/proc`, the text depends only on the host and the
 * process id.
 */
async function identify(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // `ESRCH` means that no process has this id. After any other error the process exists and belongs to another user.
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return undefined;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The second field of `/proc/<pid>/stat`, the name of the command in parentheses, may contain spaces, so the fields
  // are counted from the last parenthesis on.
  const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[START_FIELD - 3] ?? "";
  return `${host}-${pid}-${start === "" ? 0 : start}`;
}

/** Returns the text that identifies this process in the names of its temporary folders. */
export async function identifyOwner(): Promise<string> {
  return (await identify(process.pid)) ?? `${host}-${process.pid}-0`;
}

/**
 * Whether the process that owns a temporary folder has ended. Returns undefined for a process of another host, for
 * example of another container that shares the folder.
 */
export async function hasEnded(owner: string): Promise<boolean | undefined> {
  const [ownerHost, pid] = owner.split("-");
  if (ownerHost !== host) return undefined;
  return (await identify(Number(pid))) !== owner;
}
