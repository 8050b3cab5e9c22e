import { refuse } from "#src/telegram/errors.ts";

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
  if (!name.startsWith("#")) {
    return ENTITIES[name.toLowerCase()] ?? "";
  }
  const isHex = name[1]?.toLowerCase() === "x";
  return String.fromCodePoint(Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10));
}

function cannotParse(why: string): never {
  return refuse(`can't parse entities: ${why}`);
}

/**
 * Returns the text of a Telegram message without its HTML markup (`parse_mode` HTML). Unknown,
 * unclosed and wrongly nested tags are errors.
 */
export function htmlText(source: string): string {
  const open: string[] = [];
  const text = source.replaceAll(
    MARKUP,
    (found, slash: string | undefined, tag: string | undefined, _rest, entity, offset: number) => {
      if (typeof entity === "string") {
        return decodeEntity(entity);
      }
      const name = tag?.toLowerCase() ?? "";
      if (!TAGS.has(name)) {
        return cannotParse(
          `Unsupported start tag "${found.slice(1, -1)}" at byte offset ${offset}`,
        );
      }
      if (slash === "/") {
        if (open.pop() !== name) {
          cannotParse(`Unexpected end tag at byte offset ${offset}`);
        }
      } else {
        open.push(name);
      }
      return "";
    },
  );
  if (open.length > 0) {
    cannotParse(`Can't find end tag corresponding to start tag "${open.at(-1)}"`);
  }
  return text;
}
