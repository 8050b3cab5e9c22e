import { hostname, userInfo } from "node:os";
import { newId } from "@postrider/shared/ids";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { COMMANDS, findCommand, parseArguments } from "#src/command-table.ts";
import type { Command, Result, Terminal } from "#src/command.ts";
import type { Settings } from "#src/config.ts";
import { escapeText } from "#src/escape-controls.ts";
import { toFailure, UsageError } from "#src/failures.ts";
import { Services } from "#src/services.ts";

function usageOf({ words, synopsis }: Command): string {
  return `usage: postrider ${words} ${synopsis}`.trimEnd();
}

function formatUsage(commands: readonly Command[]): string {
  const lines = commands.flatMap(({ words, synopsis, summary }) => [
    `  ${words} ${synopsis}`.trimEnd(),
    `      ${summary}`,
  ]);
  return [
    "usage: postrider <command> [--json]",
    "",
    "With --json a command prints one JSON object on standard output. A failure prints",
    '{"error": {"code", "message"}} on standard error. Exit codes: 0 done, 1 failed, 2 wrong command line.',
    "",
    ...lines,
  ].join("\n");
}

export interface Output {
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  /**
   * Prints one line and waits until standard output has taken it; absent = `print` does not wait.
   */
  readonly writeLine?: (line: string) => Promise<void>;
  /** Reads the next line of standard input; absent = standard input is empty. */
  readonly readLine?: () => Promise<string>;
}

function withUsage(error: unknown, command: Command): unknown {
  const isParseFault =
    error instanceof TypeError &&
    "code" in error &&
    String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!isParseFault && !(error instanceof UsageError)) return error;
  return new UsageError(`${error.message}\n${usageOf(command)}`);
}

/**
 * Returns the terminal that a command uses. Notes go to standard error, so that standard output
 * holds only the result.
 */
function toTerminal(
  { print, printError, readLine, writeLine }: Output,
  wantsJson: boolean,
): Terminal {
  return {
    writeLine: writeLine ?? ((line) => Promise.resolve(print(line))),
    note: ({ json, text }) => printError(wantsJson ? JSON.stringify(json) : escapeText(text)),
    readLine: async (what) => {
      if (!wantsJson) printError(`${what}:`);
      return (await readLine?.()) ?? "";
    },
  };
}

async function execute(
  words: readonly string[],
  services: Services,
  terminal: Terminal,
): Promise<Result | undefined> {
  const { command, rest } = findCommand(words);
  try {
    return await command.run(services, parseArguments(command, rest), terminal);
  } catch (error) {
    throw withUsage(error, command);
  }
}

/**
 * Runs one command of the operator's tool and returns the exit code: 0 = done, 1 = failed, 2 = the
 * command line is wrong.
 */
export async function runCommand(
  words: readonly string[],
  settings: Settings,
  output: Output,
): Promise<number> {
  const { print, printError } = output;
  if (words.includes("--help") || words[0] === "help") {
    print(formatUsage(COMMANDS));
    return 0;
  }
  const wantsJson = words.includes("--json");
  await using services = new Services(settings);
  try {
    const given = words.filter((word) => word !== "--json");
    const terminal = toTerminal(output, wantsJson);
    // The services record the person and the request id in their audit logs.
    const context = { requestId: newId(), origin: { person: findPerson() } };
    const result = await runInContext(context, () => execute(given, services, terminal));
    if (result !== undefined)
      print(wantsJson ? JSON.stringify(result.json) : escapeText(result.text));
    return result?.exitCode ?? 0;
  } catch (error) {
    const { code, message, exitCode } = toFailure(error, services.describeCalled());
    printError(
      wantsJson ? JSON.stringify({ error: { code, message } }) : escapeText(`error: ${message}`),
    );
    return exitCode;
  }
}

/**
 * Returns the user and the computer that run the operator's tool, for the audit log, such as
 * `ana@laptop`.
 */
export function findPerson(): string {
  return `${findUser()}@${hostname()}`;
}

function findUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user id that has no name.
    return String(process.getuid?.() ?? "unknown");
  }
}
