/**
 * A letter, digit, mark or connector of a script that puts spaces between words. Han, Kana, Hangul, Thai and their like
 * are left out, because there a word begins and ends without a visible boundary ("링크주세요").
 */
const WORD_CHARACTER =
  /[[\p{L}\p{M}\p{N}\p{Pc}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]/v;

/** What is known of each character of the Basic Multilingual Plane: 0 = not asked yet, 1 = not a word character, 2 = is one. */
const KNOWN = new Uint8Array(0x1_00_00);

/**
 * Whether the character of which the UTF-16 unit at `index` is a part is a word character. False outside of the text.
 */
export function isWordAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (Number.isNaN(unit)) return false;
  if (unit >= 0xd8_00 && unit <= 0xdf_ff) return isAstralWordAt(text, index);
  const known = KNOWN[unit];
  if (known !== undefined && known !== 0) return known === 2;
  const isWord = WORD_CHARACTER.test(String.fromCharCode(unit));
  KNOWN[unit] = isWord ? 2 : 1;
  return isWord;
}

function isAstralWordAt(text: string, index: number): boolean {
  const before = text.codePointAt(index - 1) ?? 0;
  const code = before > 0xff_ff ? before : text.codePointAt(index);
  return code !== undefined && WORD_CHARACTER.test(String.fromCodePoint(code));
}
