import { type ChildProcess, spawn } from "node:child_process";
import { childExit } from "#src/processes/child-exit.ts";
import { identifyProcess } from "#src/processes/process-identity.ts";

/**
 * Ends child processes when this process ends without having stopped them, even after `kill -9`.
 *
 * Postgres and Kafka run in separate process groups and do not watch their parent, so nothing else
 * would end them. The guardian is a small shell process that reads from a pipe which processes to
 * guard. The kernel closes the pipe when this process ends. The shell checks the start time before
 * it sends a signal, so that a process that reuses a pid is not signalled.
 */
const script = `
list=""
while read -r op pid start signal; do
  rest=""
  for item in $list; do
    case "$item" in "$pid":*) ;; *) rest="$rest $item" ;; esac
  done
  list="$rest"
  if [ "$op" = "+" ]; then list="$list $pid:$start:$signal"; fi
done
for item in $list; do
  pid="\${item%%:*}"; tail="\${item#*:}"; start="\${tail%%:*}"; signal="\${tail#*:}"
  stat="$(cat "/proc/$pid/stat" 2>/dev/null)" || continue
  set -- \${stat##*) }
  shift 19
  if [ "$1" = "$start" ]; then kill -s "$signal" "$pid"; kill -s CONT "$pid"; fi
done 2>/dev/null
`;

let guardian: ChildProcess | undefined;
const guarded = new Set<number>();

/**
 * A shell process outlives this one and sends `signal` if this process ends first. A repeated call
 * replaces the signal.
 */
function guardProcess(pid: number, signal: "INT" | "TERM" | "KILL"): void {
  const identity = identifyProcess(pid);
  if (identity === undefined) return;

  if (guardian === undefined || guardian.exitCode !== null || guardian.signalCode !== null)
    guardian = spawnGuardian();

  guarded.add(pid);
  guardian.stdin?.write(`+ ${pid} ${identity.startTicks} ${signal}\n`);
}

/**
 * Without a guarded process the guardian ends, and the call waits for that: on a system where no
 * process adopts orphans, it would stay as a zombie.
 */
async function unguardProcess(pid: number): Promise<void> {
  guarded.delete(pid);
  guardian?.stdin?.write(`- ${pid}\n`);
  if (guarded.size === 0 && guardian !== undefined) {
    const last = guardian;
    guardian = undefined;
    last.ref();
    last.stdin?.end();
    await childExit(last);
  }
}

/**
 * From its start on, so that a child never outlives this process. Resolves with the reason of its
 * end: `SIGKILL` or `exit code 1`.
 */
export async function guardChild(child: ChildProcess, signal: "INT" | "TERM"): Promise<string> {
  const { pid } = child;
  if (pid !== undefined) guardProcess(pid, signal);
  const reason = await childExit(child);
  if (pid !== undefined) await unguardProcess(pid);
  return reason;
}

function spawnGuardian(): ChildProcess {
  // The guardian shell runs in a separate process group: Ctrl-C in the terminal must not end it
  // before the guarded processes.
  const child = spawn("/bin/sh", ["-c", script, "postrider-guardian"], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
  });
  child.unref();
  // An error of the guardian shell is ignored: the stack works without it, and the next start ends
  // the processes that were left behind.
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  if ("unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref();

  return child;
}
