import { kubectlHelp } from "../manifests/tools.ts";
import { kubectlLines } from "./step-faults.ts";

interface Command {
  /** Empty for a command that has no further ones. */
  readonly commands: readonly string[];
  readonly flags: readonly string[];
}

const read = new Map<string, Command>();
let flagsOfAll: readonly string[] | undefined;

/** What `kubectl` itself says of a command, for example of `rollout status`. */
function commandOf(name: string): Command {
  const known = read.get(name);
  if (known !== undefined) return known;
  const help = kubectlHelp(name === "" ? ["--help"] : [...name.split(" "), "--help"]);
  const commands = [...help.matchAll(/^ {2}([a-z-]+) {2,}[A-Z]/gm)].map(([, word = ""]) => word);
  const command = { commands, flags: flagsOf(help) };
  read.set(name, command);
  return command;
}

function flagsOf(help: string): readonly string[] {
  const lines = help.matchAll(/^ +(?:(-\w), )?(--[a-z-]+)=/gm);
  return [...lines].flatMap(([, short, long = ""]) =>
    short === undefined ? [long] : [short, long],
  );
}

/** The longest command that the words begin with. */
function findCommand(
  words: readonly string[],
  name = "",
): { readonly name: string; readonly rest: readonly string[] } {
  const [next = "", ...rest] = words;
  if (!commandOf(name).commands.includes(next)) return { name, rest: words };
  return findCommand(rest, `${name} ${next}`.trim());
}

/** Commands and flags of `kubectl` that it does not know, in the version of tools.ts. */
export function kubectlFaults(commands: string): readonly string[] {
  // Read once for all documents: kubectl takes half a second to start.
  const everywhere = (flagsOfAll ??= flagsOf(kubectlHelp(["options"])));
  return kubectlLines(commands).flatMap((line) => {
    // The value of a flag before the command, which is the namespace, is not the command.
    const words = line
      .replace(/ -n \S+/, "")
      .trim()
      .split(/\s+/)
      .slice(1);
    const { name, rest } = findCommand(words);
    const { commands: further, flags } = commandOf(name);
    // `kubectl apply` does something itself, and `kubectl rollout` does not.
    const [next = ""] = rest;
    if (further.length > 0 && !next.startsWith("-"))
      return [`${line.trim()}: no command ${`${name} ${next}`.trim()}`];
    return rest
      .flatMap((word) => /^(?:--[a-z-]+|-[a-z])(?==|$)/.exec(word)?.[0] ?? [])
      .filter((flag) => ![...flags, ...everywhere].includes(flag))
      .map((flag) => `${line.trim()}: no flag ${flag}`);
  });
}
