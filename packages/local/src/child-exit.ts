import type { ChildProcess } from "node:child_process";

/** Resolves when a child process has ended, at once when it already has. */
export function childExit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
  });
}

/**
 * Ends a child: each signal in turn, with a wait after each, until it is gone. The last signal should be SIGKILL.
 * A stopped child (SIGSTOP) is continued, for it sees no other signal but SIGKILL before.
 */
export async function endChild(
  child: ChildProcess,
  steps: readonly (readonly [signal: NodeJS.Signals, waitMs: number])[],
): Promise<void> {
  const exited = childExit(child);
  for (const [signal, waitMs] of steps) {
    child.kill(signal);
    child.kill("SIGCONT");
    if (await endsWithin(exited, waitMs)) {
      return;
    }
  }
  await exited;
}

function endsWithin(exited: Promise<void>, waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), waitMs);
    void exited.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
