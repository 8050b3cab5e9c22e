import { refuse } from "#src/telegram/errors.ts";

const RESERVED = new Set("_*[]()~`>#+-=|{}.!");
const PAIRED = ["```", "||", "__", "*", "_", "~", "`"];
const LINK = /\[((?:\\.|[^\]\\])*)\]\((?:\\.|[^)\\])*\)/y;

interface Scan {
  readonly source: string;
  at: number;
  text: string;
  readonly open: string[];
}

/**
 * Consumes an escape or a link at the current position of a Telegram text in MarkdownV2. Returns
 * false when neither starts there.
 */
function takeEscapeOrLink(scan: Scan): boolean {
  if (scan.source[scan.at] === "\\") {
    scan.text += scan.source[scan.at + 1] ?? "";
    scan.at += 2;
    return true;
  }
  LINK.lastIndex = scan.at;
  const link = LINK.exec(scan.source);
  if (link === null) {
    return false;
  }
  scan.text += markdownText(link[1] ?? "");
  scan.at += link[0].length;
  return true;
}

/**
 * Consumes a style marker, or the `>` of a quotation at the start of a line, in a Telegram text in
 * MarkdownV2. Returns false when neither is at the current position.
 */
function takeMarker(scan: Scan): boolean {
  const isLineStart = scan.at === 0 || scan.source[scan.at - 1] === "\n";
  if (scan.source[scan.at] === ">" && isLineStart) {
    scan.at += 1;
    return true;
  }
  const marker = PAIRED.find((candidate) => scan.source.startsWith(candidate, scan.at));
  if (marker === undefined) {
    return false;
  }
  if (scan.open.at(-1) === marker) {
    scan.open.pop();
  } else {
    scan.open.push(marker);
  }
  scan.at += marker.length;
  return true;
}

/**
 * Returns the text of a Telegram message without its MarkdownV2 markup (`parse_mode` MarkdownV2). A
 * reserved character without a backslash is an error.
 */
export function markdownText(source: string): string {
  const scan: Scan = { source, at: 0, text: "", open: [] };
  while (scan.at < source.length) {
    if (takeEscapeOrLink(scan) || takeMarker(scan)) {
      continue;
    }
    const character = source[scan.at] ?? "";
    if (RESERVED.has(character)) {
      refuse(
        `can't parse entities: Character '${character}' is reserved and must be escaped with the preceding '\\'`,
      );
    }
    scan.text += character;
    scan.at += 1;
  }
  if (scan.open.length > 0) {
    refuse(`can't parse entities: Can't find end of the entity starting with ${scan.open.at(-1)}`);
  }
  return scan.text;
}
