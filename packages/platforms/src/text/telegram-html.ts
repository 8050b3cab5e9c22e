/** Tags of Telegram's HTML. Source: Bot API 10.3, formatting options, 2026-08-24. */
const TAGS: ReadonlySet<string> = new Set(
  "b strong i em u ins s strike del span tg-spoiler tg-emoji tg-time a code pre blockquote".split(
    " ",
  ),
);

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
/**
 * Matches a tag of HTML up to its end, or an entity. Other uses of `>` and `&` are text, as on
 * Telegram.
 */
const MARKUP = /<([^<>]*)>|<|&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|amp|quot));/gi;
const TAG = /^(\/?)([a-z-]+)(\s[^]*)?$/i;
const SPOILER = /^\s+class\s*=\s*(["']?)tg-spoiler\1\s*$/i;

const MAX_CODE_POINT = 0x10ffff;

/**
 * Returns the text that readers see of a text with Telegram's HTML tags; undefined when Telegram
 * would refuse it: a tag that Telegram does not know, is not closed or overlaps another one, or a
 * `<` that begins no tag.
 */
export function parseTelegramHtml(source: string): string | undefined {
  const open: string[] = [];
  let isValid = true;
  const text = source.replace(
    MARKUP,
    (found, tag?: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? found;
      if (decimal !== undefined) return toCharacter(Number.parseInt(decimal, 10)) ?? found;
      if (hex !== undefined) return toCharacter(Number.parseInt(hex, 16)) ?? found;
      isValid &&= tag !== undefined && readTag(tag, open);
      return "";
    },
  );
  return isValid && open.length === 0 ? text : undefined;
}

function toCharacter(codePoint: number): string | undefined {
  const isCharacter = codePoint > 0 && codePoint <= MAX_CODE_POINT && !isSurrogate(codePoint);
  return isCharacter ? String.fromCodePoint(codePoint) : undefined;
}

function isSurrogate(codePoint: number): boolean {
  return codePoint >= 0xd800 && codePoint <= 0xdfff;
}

function readTag(tag: string, open: string[]): boolean {
  const [, slash, name = "", attributes = ""] = TAG.exec(tag) ?? [];
  const known = name.toLowerCase();
  if (!TAGS.has(known)) return false;
  if (slash === "/") return open.pop() === known && attributes.trim() === "";
  open.push(known);
  return known !== "span" || SPOILER.test(attributes);
}
