import type { ChildProcess } from "node:child_process";

/** Resolves when a child process has ended, with the reason: `SIGKILL` or `exit code 1`. */
export function childExit(child: ChildProcess): Promise<string> {
  const describe = (): string => child.signalCode ?? `exit code ${child.exitCode ?? "unknown"}`;
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
    return Promise.resolve(describe());

  return new Promise((resolve) => {
    child.once("exit", () => resolve(describe()));
  });
}

/** A signal that ends a process, and how long to wait for the end before the next one. */
export type StopStep = readonly [signal: NodeJS.Signals, waitMs: number];

/**
 * Ends a child process: sends each signal in turn, with a wait after each. The last signal should be SIGKILL.
 * A stopped child (SIGSTOP) is continued first, because otherwise only SIGKILL would reach it.
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
