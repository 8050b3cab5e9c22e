import type { Command } from "#src/command.ts";

/** How to call one command. */
export function usageOf({ words, synopsis }: Command): string {
  return `usage: postrider ${words} ${synopsis}`.trimEnd();
}

/** How to call the tool. */
export function formatUsage(commands: readonly Command[]): string {
  const lines = commands.flatMap(({ words, synopsis, summary }) => [
    `  ${words} ${synopsis}`.trimEnd(),
    `      ${summary}`,
  ]);
  return [
    "usage: postrider <command> [--json]",
    "",
    'With --json a command prints one JSON object; a failure prints {"error": {"code", "message"}} on stderr.',
    "",
    ...lines,
  ].join("\n");
}
