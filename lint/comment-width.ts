import type { RuleTester } from "oxlint/plugins-dev";

/**
 * A part of a comment that is filled anew as one; `raw` parts (code, tables, blank lines) stay as
 * they are.
 */
interface Paragraph {
  readonly kind: "text" | "item" | "tag" | "raw";
  readonly indent: string;
  text: string;
}

const TAG = /^@[a-z]/;
/** A tag in the middle of a line begins a paragraph of its own. */
const INNER_TAG = /(?<=[.:)!?]) (?=@(?:returns?|param|throws|example|see|default)\b)/;
const ITEM = /^(?:[-*]|\d+\.) /;
/** A code or a link with spaces is one word. */
const WORDS = /[^\s`{]*(?:`[^`]*`[^\s`]*|\{@link [^}]*\}\S*)+|\S+/g;

/**
 * Fills the paragraphs of a comment anew, so that no line is wider than `width`.
 *
 * @param text Consecutive line comments, or one block comment, from its first mark to its end.
 * @param column The column at which the comment begins.
 */
function wrapComment(text: string, column: number, width: number): string {
  const margin = " ".repeat(column);
  const lines = text.split("\n");
  if (text.startsWith("//"))
    return fillAll(
      lines.map((line) => line.trim().replace(/^\/\/ ?/, "")),
      `${margin}// `,
      width,
    ).trimStart();
  if (!text.startsWith("/**")) return text;
  const body = text
    .slice(3, -2)
    .split("\n")
    .map((line, index) => (index === 0 ? line.trim() : line.replace(/^\s*\*? ?/, "")))
    .flatMap((line) => line.split(INNER_TAG));
  const filled = fillAll(trimBlank(body), `${margin} * `, width);
  const single = `/** ${filled.slice(margin.length + 3)} */`;
  if (!filled.includes("\n") && column + single.length <= width) return single;
  return `/**\n${filled}\n${margin} */`;
}

function trimBlank(lines: readonly string[]): readonly string[] {
  const isText = (line: string) => line.trim() !== "";
  return lines.slice(lines.findIndex(isText), lines.findLastIndex(isText) + 1);
}

function fillAll(lines: readonly string[], prefix: string, width: number): string {
  return toParagraphs(lines)
    .flatMap(({ kind, indent, text }) => {
      if (kind === "raw") return [`${prefix}${text}`.trimEnd()];
      const deeper = kind === "tag" ? "  " : " ".repeat(ITEM.exec(text)?.[0].length ?? 0);
      return fill(text, `${prefix}${indent}`, `${prefix}${indent}${deeper}`, width);
    })
    .join("\n");
}

function kindOf(text: string, indent: string): Paragraph["kind"] {
  if (TAG.test(text)) return "tag";
  if (ITEM.test(text)) return "item";
  return text === "" || text.startsWith("|") || indent !== "" ? "raw" : "text";
}

/** Whether a line without a mark of its own belongs to the paragraph before it. */
function continues(last: Paragraph, text: string, indent: string): boolean {
  if (last.kind === "raw" || /^(?:$|@[a-z]|\|)/.test(text) || ITEM.test(text)) return false;
  return last.kind !== "text" || indent === "";
}

function toParagraphs(lines: readonly string[]): readonly Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let fences = 0;
  for (const line of lines) {
    const text = line.trim();
    const indent = /^\s*/.exec(line.trimEnd())?.[0] ?? "";
    const isFence = text.startsWith("```");
    const isCode = isFence || fences % 2 === 1;
    fences += Number(isFence);
    const last = paragraphs.at(-1);
    const kind = isCode ? "raw" : kindOf(text, indent);
    if (!isCode && last !== undefined && continues(last, text, indent)) last.text += ` ${text}`;
    else if (kind === "raw") paragraphs.push(raw(line.trimEnd()));
    else paragraphs.push(...gapBefore(kind, last), { kind, indent, text });
  }
  return paragraphs;
}

const raw = (text: string): Paragraph => ({ kind: "raw", indent: "", text });

/** A blank line separates a tag from a text before it. */
function gapBefore(kind: Paragraph["kind"], last: Paragraph | undefined): readonly Paragraph[] {
  return kind === "tag" && last?.kind === "text" ? [raw("")] : [];
}

function fill(text: string, first: string, others: string, width: number): readonly string[] {
  const words = (text.match(WORDS) ?? []).flatMap((word) =>
    others.length + word.length > width ? word.split(" ") : [word],
  );
  const lines: string[] = [];
  let line = first;
  for (const word of words) {
    const isStart = line === first || line === others;
    if (!isStart && line.length + 1 + word.length > width) {
      lines.push(line);
      line = `${others}${word}`;
    } else line += isStart ? word : ` ${word}`;
  }
  return [...lines, line];
}

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
