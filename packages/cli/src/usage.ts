import type { Command } from "#src/command.ts";

/** The usage line of one command of the operator's tool. */
export function usageOf({ words, synopsis }: Command): string {
  return `usage: postrider ${words} ${synopsis}`.trimEnd();
}

/** The usage text of the operator's tool, with all commands. */
export function formatUsage(commands: readonly Command[]): string {
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
