import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import type { Arguments, Command } from "#src/command.ts";
import { accountCommands } from "#src/commands/account.ts";
import { auditCommands } from "#src/commands/audit.ts";
import { bucketCommands } from "#src/commands/bucket-rules.ts";
import { credentialCommands } from "#src/commands/credentials.ts";
import { dashboardCommands } from "#src/commands/dashboard.ts";
import { doctorCommands } from "#src/commands/doctor.ts";
import { eventCommands } from "#src/commands/events.ts";
import { identityCommands } from "#src/commands/identity.ts";
import { keyCommands } from "#src/commands/key.ts";
import { mediaCommands } from "#src/commands/media.ts";
import { pauseCommands } from "#src/commands/pause.ts";
import { postLimitCommands } from "#src/commands/post-limits.ts";
import { recoveryCommands } from "#src/commands/recovery.ts";
import { retentionCommands } from "#src/commands/retention.ts";
import { secretCommands } from "#src/commands/secrets.ts";
import { setupCommands } from "#src/commands/setup.ts";
import { storageCommands } from "#src/commands/storage.ts";
import { targetCommands } from "#src/commands/target.ts";
import { webhookCommands } from "#src/commands/webhooks.ts";
import { workspaceDeletionCommands } from "#src/commands/workspace-deletion.ts";
import { workspaceExportCommands } from "#src/commands/workspace-export.ts";
import { workspaceImportCommands } from "#src/commands/workspace-import.ts";
import { workspaceMoveCommands } from "#src/commands/workspace-move.ts";
import { workspaceCommands } from "#src/commands/workspace.ts";
import { UsageError } from "#src/failures.ts";

export const COMMANDS: readonly Command[] = [
  ...workspaceCommands,
  ...workspaceDeletionCommands,
  ...workspaceExportCommands,
  ...workspaceImportCommands,
  ...workspaceMoveCommands,
  ...keyCommands,
  ...accountCommands,
  ...auditCommands,
  ...bucketCommands,
  ...credentialCommands,
  ...dashboardCommands,
  ...doctorCommands,
  ...eventCommands,
  ...mediaCommands,
  ...pauseCommands,
  ...postLimitCommands,
  ...recoveryCommands,
  ...identityCommands,
  ...retentionCommands,
  ...secretCommands,
  ...setupCommands,
  ...storageCommands,
  ...targetCommands,
  ...webhookCommands,
];

function suggest(word: string | undefined): string {
  const near = COMMANDS.filter(({ words }) => words.split(" ")[0] === word);
  if (near.length === 0) return "";
  return `there are ${near.map(({ words }) => `\`${words}\``).join(", ")}; or `;
}

/**
 * `rest`: the words after the command.
 *
 * @throws UsageError
 */
export function findCommand(words: readonly string[]): { command: Command; rest: string[] } {
  const command = COMMANDS.find((each) => {
    const own = each.words.split(" ");
    return own.every((word, index) => words[index] === word);
  });
  if (command === undefined) {
    const typed = words.filter((word) => !word.startsWith("-")).join(" ");
    const fault = typed === "" ? "the command is missing" : `unknown command \`${typed}\``;
    throw new UsageError(`${fault}; ${suggest(words[0])}run \`postrider help\``);
  }
  return { command, rest: words.slice(command.words.split(" ").length) };
}

/** `--name VALUE` is a text, `--name` alone a switch, and `…` allows several. */
const OPTION = /--([a-z-]+)(?: ([^\s[\]|-][^\s\]]*))?( …)?/g;
const MAX_POSITIONALS = 1_000;

function shapeOf(synopsis: string) {
  const options: ParseArgsOptionsConfig = {};
  for (const [, name = "", value, more] of synopsis.matchAll(OPTION)) {
    const type = value === undefined ? "boolean" : "string";
    options[name] = more === undefined ? { type } : { type, multiple: true };
  }
  const rest = synopsis.replaceAll(OPTION, "");
  const countOf = (text: string) => text.match(/[A-Z]+/g)?.length ?? 0;
  const max = rest.includes("…") ? MAX_POSITIONALS : countOf(rest);
  return { options, min: countOf(rest.replace(/\[.*\]/, "")), max };
}

/** @throws UsageError or the error of `parseArgs`. */
export function parseArguments({ words, synopsis }: Command, args: string[]): Arguments {
  const { options, min, max } = shapeOf(synopsis);
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  if (positionals.length < min)
    throw new UsageError(`an argument of \`${words}\` is missing; run \`postrider help\``);
  if (positionals.length > max)
    throw new UsageError(`unexpected argument \`${positionals[max]}\`; run \`postrider help\``);
  return { values, positionals };
}
