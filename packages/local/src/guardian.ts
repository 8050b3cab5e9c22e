import { type ChildProcess, spawn } from "node:child_process";
import { childExit } from "#src/child-exit.ts";
import { identifyProcess } from "#src/process-identity.ts";

/**
 * Ends child processes when this process disappears without having stopped them, `kill -9` included.
 *
 * Postgres and Kafka know nothing of their parent and run in process groups of their own, so nothing else would end them.
 * One small shell reads what to guard from a pipe; the kernel closes the pipe when we are gone.
 * It checks the start time before it signals: a number that was given to another process is left alone.
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
 * Has `pid` ended with `signal` if this process dies first. Repeating it replaces the signal.
 *
 * @param signal Without the SIG prefix, for example `INT`.
 */
export function guardProcess(pid: number, signal: "INT" | "TERM" | "KILL"): void {
  const identity = identifyProcess(pid);
  if (identity === undefined) {
    return;
  }
  if (guardian === undefined || guardian.exitCode !== null || guardian.signalCode !== null) {
    guardian = spawnGuardian();
  }
  guarded.add(pid);
  guardian.stdin?.write(`+ ${pid} ${identity.startTicks} ${signal}\n`);
}

/**
 * Forgets a process that has ended or that another guardian guards from now on. With the last one the guardian itself ends,
 * and this resolves when it has: where no process adopts orphans it would stay as a zombie.
 */
export async function unguardProcess(pid: number): Promise<void> {
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

function spawnGuardian(): ChildProcess {
  // A process group of its own: a Ctrl-C in the terminal must not end the guard before what it guards.
  const child = spawn("/bin/sh", ["-c", script, "postrider-guardian"], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
  });
  child.unref();
  // Without a guard the stack still works, and the next start ends what was left behind.
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  if ("unref" in child.stdin && typeof child.stdin.unref === "function") {
    child.stdin.unref();
  }
  return child;
}
