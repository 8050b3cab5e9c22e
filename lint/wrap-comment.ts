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
export function wrapComment(text: string, column: number, width: number): string {
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
