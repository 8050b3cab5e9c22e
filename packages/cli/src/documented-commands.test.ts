import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findCommand, parseArguments } from "./command-table.ts";

const ROOT = join(import.meta.dirname, "../../..");

const DOCUMENTS = globSync(["*.md", "docs/*.md", "{deploy,packages,services}/**/*.md"], {
  cwd: ROOT,
  exclude: (path) => path.includes("node_modules"),
});

/** As it is typed: through npm, through pnpm, or the tool by its name. */
const TYPED = /^(?:\$ )?(?:npm run -s postrider -- |pnpm (?:-s )?postrider |postrider )(.+)$/;

interface Typed {
  readonly text: string;
  readonly words: readonly string[];
}

/** Up to a pipe, a redirection, a comment or the next command of the shell; `<id>` stands for a word. */
function toTyped(text: string): Typed[] {
  const [, rest] = TYPED.exec(text.trim()) ?? [];
  if (rest === undefined) return [];
  const own = rest.split(/ (?:[|&>#;]|2>|<[ <])/)[0] ?? "";
  return [{ text: text.trim(), words: own.trim().split(/\s+/) }];
}

function readDocument(path: string): { readonly blocks: Typed[]; readonly spans: Typed[] } {
  const [outside, inside] = [[] as string[], [] as string[]];
  let isInside = false;
  for (const line of readFileSync(join(ROOT, path), "utf8").split("\n")) {
    if (line.trim().startsWith("```")) isInside = !isInside;
    else (isInside ? inside : outside).push(line);
  }
  const spans = [...outside.join("\n").matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
  return { blocks: inside.flatMap(toTyped), spans: spans.flatMap(toTyped) };
}

const isHelp = ({ words: [first = ""] }: Typed) => ["help", "--help", "<command>"].includes(first);

/** Why the tool would refuse what is written; undefined when it would take it. */
function findFault(path: string, { text, words }: Typed, isWhole: boolean): string | undefined {
  try {
    const { command, rest } = findCommand(words);
    if (isWhole)
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
    // In a sentence a command may stand without what follows it.
    ...spans.filter((each) => !isHelp(each)).map((each) => findFault(path, each, false)),
  ].filter((fault) => fault !== undefined);
}

test("every command of the operator's tool that a document names exists", () => {
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
])("%s", (text, isGood) => {
  const [typed] = toTyped(text);
  if (typed === undefined) throw new Error("not seen");
  expect(findFault("here", typed, true) === undefined).toBe(isGood);
});
