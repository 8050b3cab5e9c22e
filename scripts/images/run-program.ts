import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

const SHOWN_LINES = 30;
const NEVER = new AbortController().signal;

export interface RunOptions {
  /** When it is aborted, the program and all processes that it started are stopped. */
  readonly signal?: AbortSignal;
  readonly cwd?: string;
  readonly input?: string | undefined;
}

/** Returns standard output; throws with the last lines of the output. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { signal = NEVER, cwd, input = "" }: RunOptions = {},
): Promise<string> {
  signal.throwIfAborted();
  // In a process group of its own: a build that is stopped alone leaves the commands that it runs.
  const child = spawn(program, args, { cwd, detached: true });
  const stop = (): void => stopGroup(child);
  signal.addEventListener("abort", stop);
  // A program that does not read its input may have ended.
  child.stdin.on("error", () => undefined).end(input);
  try {
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    const [stdout, stderr, [code]] = await ended;
    // A stopped podman ends with 0.
    signal.throwIfAborted();
    if (code === 0) return stdout.trim();
    throw new Error(lastLines(`${stdout}\n${stderr}`) || `exit code ${code}`);
  } catch (error) {
    signal.throwIfAborted();
    const command = [program, ...args.slice(0, 2)].join(" ");
    throw new Error(`${command} failed: ${(error as Error).message}`, { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function stopGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGTERM");
  } catch {
    // It has ended.
  }
}

function lastLines(output: string): string {
  return output.trim().split("\n").slice(-SHOWN_LINES).join("\n");
}
