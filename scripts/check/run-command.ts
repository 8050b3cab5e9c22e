import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

export interface CommandResult {
  readonly ok: boolean;
  readonly output: string;
  /** A note to print even if the command succeeded. */
  readonly note?: string;
}

const running = new Set<ChildProcess>();
let stopped = false;

/** The environment of every command: the project's own tools come first on PATH. */
function environment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const tools = [join(root, "node_modules/.postrider"), join(root, "node_modules/.bin")];
  const path = [...tools, process.env.PATH ?? ""].join(delimiter);
  return { ...process.env, PATH: path, TURBO_TELEMETRY_DISABLED: "1", ...extra };
}

/**
 * Most tools are short programs in Go, which otherwise spend a fifth of their time on collecting
 * garbage. The largest of them needs 2.8 GB with this.
 */
const GO = { GOGC: "400" };

/** Never throws: a missing tool is a failed result. */
export async function runCommand(command: string, args: readonly string[]): Promise<CommandResult> {
  if (stopped) return { ok: false, output: "stopped" };
  const child = spawn(command, args, {
    cwd: root,
    env: environment({ FORCE_COLOR: "0", NO_COLOR: "1", ...GO }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  const ok = await succeeds(child).catch((error: unknown) => {
    chunks.push(Buffer.from(String(error)));
    return false;
  });
  return { ok, output: Buffer.concat(chunks).toString("utf8") };
}

/** The program writes to the terminal itself. */
export async function runInForeground(
  command: string,
  args: readonly string[],
  extra: NodeJS.ProcessEnv,
): Promise<boolean> {
  if (stopped) return false;
  return succeeds(spawn(command, args, { cwd: root, env: environment(extra), stdio: "inherit" }));
}

export async function runVitest(
  args: readonly string[],
  extra: NodeJS.ProcessEnv,
): Promise<boolean> {
  // Not the script in `.bin`, which does not forward signals to the program.
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  return await runInForeground(process.execPath, [vitest, "run", ...args], extra);
}

/** A command that is started afterwards fails at once. */
function stopCommands(): void {
  stopped = true;
  for (const child of running) child.kill("SIGTERM");
}

/**
 * Sets exit code 0 if `main` returns true. Commands stop with the script, and when its parent was
 * killed and can no longer read the result.
 */
export async function runScript(name: string, main: () => Promise<boolean>): Promise<void> {
  process.once("SIGTERM", stopCommands);
  process.once("SIGINT", stopCommands);
  process.once("disconnect", stopCommands);
  const ok = await main().catch((error: unknown) => {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return false;
  });
  process.exitCode = ok ? 0 : 1;
  // Closes the channel to the parent process, which would otherwise keep this process alive.
  if (process.connected) process.disconnect();
}

async function succeeds(child: ChildProcess): Promise<boolean> {
  running.add(child);
  try {
    const [code]: unknown[] = await once(child, "close");
    return code === 0;
  } finally {
    running.delete(child);
  }
}
