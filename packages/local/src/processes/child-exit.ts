import type { ChildProcess } from "node:child_process";

/** With the reason: `SIGKILL` or `exit code 1`. */
export function childExit(child: ChildProcess): Promise<string> {
  const describe = (): string => child.signalCode ?? `exit code ${child.exitCode ?? "unknown"}`;
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
    return Promise.resolve(describe());

  return new Promise((resolve) => {
    child.once("exit", () => resolve(describe()));
  });
}

/** `waitMs` is the wait before the next signal. */
export type StopStep = readonly [signal: NodeJS.Signals, waitMs: number];

/**
 * The last signal should be SIGKILL. A stopped child (SIGSTOP) is continued first, because
 * otherwise only SIGKILL would reach it.
 */
export async function endChild(child: ChildProcess, steps: readonly StopStep[]): Promise<void> {
  const exited = childExit(child);
  for (const [signal, waitMs] of steps) {
    child.kill(signal);
    child.kill("SIGCONT");
    if (await endsWithin(exited, waitMs)) return;
  }
  await exited;
}

function endsWithin(exited: Promise<unknown>, waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), waitMs);
    void exited.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
