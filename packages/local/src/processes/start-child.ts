import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { endChild, type StopStep } from "#src/processes/child-exit.ts";
import { guardChild } from "#src/processes/guardian.ts";
import type { RunningPart } from "#src/processes/supervised-part.ts";

/** It ends with this process; its output is appended to a log file. */
export interface LoggedChild {
  readonly child: ChildProcess;
  readonly exited: Promise<string>;
  hasEnded(): boolean;
  said(): string;
}

/** `onOrphaned` is the signal that ends it when this process is killed. */
export function startChild(
  program: string,
  args: readonly string[],
  {
    logFile,
    onOrphaned = "TERM",
    ...options
  }: SpawnOptions & { logFile: string; onOrphaned?: "INT" | "TERM" },
): LoggedChild {
  const log = openSync(logFile, "a", 0o600);
  const before = fstatSync(log).size;
  const child = spawn(program, args, { ...options, stdio: ["ignore", log, log] });
  closeSync(log);
  return {
    child,
    exited: guardChild(child, onOrphaned),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    said: () => readFileSync(logFile).subarray(before).toString().trim(),
  };
}

export function toPart(
  { child, exited }: Pick<LoggedChild, "child" | "exited">,
  ...steps: readonly StopStep[]
): RunningPart {
  return {
    pid: child.pid ?? 0,
    exited,
    async [Symbol.asyncDispose]() {
      await endChild(child, steps);
      await exited;
    },
  };
}
