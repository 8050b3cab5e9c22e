import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findCommand, parseArguments } from "./command-table.ts";

const ROOT = join(import.meta.dirname, "../../..");

const DOCUMENTS = globSync(["*.md", "docs/*.md", "{deploy,packages,services}/**/*.md"], {
  cwd: ROOT,
  exclude: (path) => path.includes("node_modules"),
});

/** A command as a document shows it: through npm, through pnpm, or as `postrider`. */
const COMMAND_LINE =
  /^(?:\$ )?(?:npm run -s postrider -- |pnpm (?:-s )?postrider |postrider )(.+)$/;

interface DocumentedCommand {
  readonly text: string;
  readonly words: readonly string[];
}

/**
 * Parses a documented command up to a pipe, a redirection, a comment or the next command; `<id>`
 * stands for an argument.
 */
function parseCommand(text: string): DocumentedCommand[] {
  const [, rest] = COMMAND_LINE.exec(text.trim()) ?? [];
  if (rest === undefined) return [];
  const own = rest.split(/ (?:[|&>#;]|2>|<[ <])/)[0] ?? "";
  return [{ text: text.trim(), words: own.match(/"[^"]*"|\S+/g) ?? [] }];
}

function readDocument(path: string): {
  readonly blocks: DocumentedCommand[];
  readonly spans: DocumentedCommand[];
} {
  const [outside, inside] = [[] as string[], [] as string[]];
  let isInside = false;
  for (const line of readFileSync(join(ROOT, path), "utf8").split("\n"))
    if (line.trim().startsWith("```")) isInside = !isInside;
    else (isInside ? inside : outside).push(line);

  const spans = [...outside.join("\n").matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
  return { blocks: inside.flatMap(parseCommand), spans: spans.flatMap(parseCommand) };
}

const isHelp = ({ words: [first = ""] }: DocumentedCommand) =>
  ["help", "--help", "<command>"].includes(first);

/**
 * Returns why the operator's tool would reject the command; undefined = it would accept the
 * command.
 */
function findFault(
  path: string,
  { text, words }: DocumentedCommand,
  isComplete: boolean,
): string | undefined {
  try {
    const { command, rest } = findCommand(words);
    if (isComplete)
      parseArguments(
        command,
        rest.filter((word) => word !== "--json"),
      );
    return undefined;
  } catch (error) {
    return `${path}: ${text}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function findFaults(path: string): string[] {
  const { blocks, spans } = readDocument(path);
  return [
    ...blocks.filter((each) => !isHelp(each)).map((each) => findFault(path, each, true)),
    // In a sentence of the documentation, a command may stand without its arguments.
    ...spans.filter((each) => !isHelp(each)).map((each) => findFault(path, each, false)),
  ].filter((fault) => fault !== undefined);
}

test("the operator's command-line tool accepts every command that the documentation shows", () => {
  expect(DOCUMENTS).toContain("docs/operations.md");
  const { blocks } = readDocument("docs/operations.md");
  expect(blocks.length).toBeGreaterThan(10);
  expect(DOCUMENTS.flatMap(findFaults)).toEqual([]);
});

test.each([
  ["npm run -s postrider -- target resolve ID --absent", true],
  ["postrider target resolve ID --absent --json | jq .status", true],
  ["postrider events redrive --service posts", true],
  ["postrider target resolve", false],
  ["postrider target dissolve ID", false],
  ["postrider pauses --everything", false],
])("the check of documented commands reports whether `%s` is valid: %s", (text, isValid) => {
  const [command] = parseCommand(text);
  if (command === undefined) throw new Error("the text is not recognized as a command");
  expect(findFault("here", command, true) === undefined).toBe(isValid);
});
