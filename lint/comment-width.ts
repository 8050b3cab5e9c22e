import type { RuleTester } from "oxlint/plugins-dev";
import { wrapComment } from "./wrap-comment.ts";

type Rule = Parameters<RuleTester["run"]>[1];
type SourceCode = Parameters<NonNullable<Rule["create"]>>[0]["sourceCode"];
type Comment = ReturnType<SourceCode["getAllComments"]>[number];

/** The width of the code, which oxfmt does not apply to comments. */
const WIDTH = 100;
const DIRECTIVE = /^\s*(?:oxlint|eslint|@ts-|#|\/ <)/;

/**
 * A lint rule that reports comments with a line wider than the code, and fills their paragraphs
 * anew. A line without a place to break, such as an address, may be wider.
 */
export const commentWidth: Rule = {
  meta: {
    type: "layout",
    fixable: "code",
    docs: { description: "Wrap comments at the width of the code." },
  },
  create({ sourceCode, report }) {
    return {
      Program: () => {
        for (const { column, range, text } of listBlocks(sourceCode)) {
          const wrapped = wrapComment(text, column, WIDTH);
          if (!isWide(text, column) || wrapped === text) continue;
          report({
            loc: sourceCode.getLocFromIndex(range[0]),
            message: `A line of this comment is wider than ${WIDTH} columns.`,
            fix: (fixer) => fixer.replaceTextRange(range, wrapped),
          });
        }
      },
    };
  },
};

function isWide(text: string, column: number): boolean {
  return text.split("\n").some((line, index) => line.length + (index === 0 ? column : 0) > WIDTH);
}

interface Block {
  readonly column: number;
  readonly range: [number, number];
  readonly text: string;
}

function isAlone({ loc }: Comment, { lines }: SourceCode): boolean {
  const before = lines[loc.start.line - 1]?.slice(0, loc.start.column) ?? "";
  const behind = lines[loc.end.line - 1]?.slice(loc.end.column) ?? "";
  return before.trim() === "" && behind.trim() === "";
}

function isBelow(upper: Comment | undefined, { type, loc }: Comment): boolean {
  if (upper?.type !== "Line" || type !== "Line") return false;
  return upper.loc.end.line + 1 === loc.start.line && upper.loc.start.column === loc.start.column;
}

/**
 * Returns the comments that have their lines for themselves; line comments directly below each
 * other are one.
 */
function listBlocks(sourceCode: SourceCode): readonly Block[] {
  const blocks: Comment[][] = [];
  for (const comment of sourceCode.getAllComments()) {
    if (!isAlone(comment, sourceCode) || DIRECTIVE.test(comment.value)) continue;
    const last = blocks.at(-1);
    if (last !== undefined && isBelow(last.at(-1), comment)) last.push(comment);
    else blocks.push([comment]);
  }
  return blocks.flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    const range: [number, number] = [first.range[0], (more.at(-1) ?? first).range[1]];
    return [{ column: first.loc.start.column, range, text: sourceCode.text.slice(...range) }];
  });
}
