/**
 * Characters that a terminal obeys instead of showing them, or that change the order in which it
 * shows others: controls, direction marks and separators of lines. A name that another person chose
 * may contain them.
 */
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const OBEYED_EXCEPT_NEWLINE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

export function escapeCell(text: string): string {
  return text.replaceAll(OBEYED, escape);
}

export function escapeText(text: string): string {
  return text.replaceAll(OBEYED_EXCEPT_NEWLINE, escape);
}
