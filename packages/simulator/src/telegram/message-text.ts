import { refuse } from "#src/telegram/errors.ts";
import { type Parameters, textOf } from "#src/telegram/parameters.ts";

const RESERVED = new Set("_*[]()~`>#+-=|{}.!");
const PAIRED = ["```", "||", "__", "*", "_", "~", "`"];
const LINK = /\[((?:\\.|[^\]\\])*)\]\((?:\\.|[^)\\])*\)/y;

interface Scan {
  readonly source: string;
  at: number;
  text: string;
  readonly open: string[];
}

function takeEscapeOrLink(scan: Scan): boolean {
  if (scan.source[scan.at] === "\\") {
    scan.text += scan.source[scan.at + 1] ?? "";
    scan.at += 2;
    return true;
  }
  LINK.lastIndex = scan.at;
  const link = LINK.exec(scan.source);
  if (link === null) return false;

  scan.text += markdownText(link[1] ?? "");
  scan.at += link[0].length;
  return true;
}

function takeMarker(scan: Scan): boolean {
  const isLineStart = scan.at === 0 || scan.source[scan.at - 1] === "\n";
  if (scan.source[scan.at] === ">" && isLineStart) {
    scan.at += 1;
    return true;
  }
  const marker = PAIRED.find((candidate) => scan.source.startsWith(candidate, scan.at));
  if (marker === undefined) return false;

  if (scan.open.at(-1) === marker) scan.open.pop();
  else scan.open.push(marker);

  scan.at += marker.length;
  return true;
}

function markdownText(source: string): string {
  const scan: Scan = { source, at: 0, text: "", open: [] };
  while (scan.at < source.length) {
    if (takeEscapeOrLink(scan) || takeMarker(scan)) continue;

    const character = source[scan.at] ?? "";
    if (RESERVED.has(character))
      refuse(
        `can't parse entities: Character '${character}' is reserved and must be escaped with the preceding '\\'`,
      );

    scan.text += character;
    scan.at += 1;
  }
  if (scan.open.length > 0)
    refuse(`can't parse entities: Can't find end of the entity starting with ${scan.open.at(-1)}`);

  return scan.text;
}

const TAGS = new Set([
  "b",
  "strong",
  "i",
  "em",
  "u",
  "ins",
  "s",
  "strike",
  "del",
  "span",
  "tg-spoiler",
  "tg-emoji",
  "a",
  "code",
  "pre",
  "blockquote",
]);

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
const MARKUP = /<(\/?)([a-z][a-z0-9-]*)?([^<>]*)>|<|&(#\d+|#x[0-9a-f]+|lt|gt|amp|quot);/gi;

function decodeEntity(name: string): string {
  if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? "";

  const isHex = name[1]?.toLowerCase() === "x";
  return String.fromCodePoint(Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10));
}

function cannotParse(why: string): never {
  return refuse(`can't parse entities: ${why}`);
}

/** Unknown, unclosed and wrongly nested tags are errors. */
function htmlText(source: string): string {
  const open: string[] = [];
  const text = source.replaceAll(
    MARKUP,
    (found, slash: string | undefined, tag: string | undefined, _rest, entity, offset: number) => {
      if (typeof entity === "string") return decodeEntity(entity);

      const name = tag?.toLowerCase() ?? "";
      if (!TAGS.has(name))
        return cannotParse(
          `Unsupported start tag "${found.slice(1, -1)}" at byte offset ${offset}`,
        );

      if (slash === "/") {
        if (open.pop() !== name) cannotParse(`Unexpected end tag at byte offset ${offset}`);
      } else open.push(name);

      return "";
    },
  );
  if (open.length > 0)
    cannotParse(`Can't find end tag corresponding to start tag "${open.at(-1)}"`);

  return text;
}

const MAX_TEXT_UNITS = 4096;
const MAX_CAPTION_UNITS = 1024;
const MAX_RAW_BYTES = 32_768;

function withoutMarkup(text: string, mode: string): string {
  switch (mode.toLowerCase()) {
    case "":
      return text;
    case "html":
      return htmlText(text);
    case "markdownv2":
      return markdownText(text);
    default:
      return refuse("unsupported parse_mode");
  }
}

export function messageText(parameters: Parameters): string {
  const raw = textOf(parameters, "text");
  if (Buffer.byteLength(raw, "utf8") > MAX_RAW_BYTES) refuse("message is too long");

  const text = withoutMarkup(raw, textOf(parameters, "parse_mode"));
  if (text.trim() === "") refuse("message text is empty");

  if (text.trim().length > MAX_TEXT_UNITS) refuse("message is too long");

  return text;
}

export function captionText(parameters: Parameters): string {
  const text = withoutMarkup(textOf(parameters, "caption"), textOf(parameters, "parse_mode"));
  return text.trim().length > MAX_CAPTION_UNITS ? refuse("message caption is too long") : text;
}
