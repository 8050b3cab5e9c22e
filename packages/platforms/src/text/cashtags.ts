/**
 * A cashtag as X recognizes it: `$`, one to six letters, and possibly a suffix of one or two
 * letters, between blanks or punctuation. Source: twitter-text 3.1, `cashtag` and `validCashtag`.
 */
const CASHTAG =
  /(?<=^|\s)\$[a-z]{1,6}(?:[._][a-z]{1,2})?(?=$|\s|[!'#%&()*+,\\\-./:;<=>?@[\]^_{|}~$])/gi;

export function countCashtags(text: string): number {
  return text.match(CASHTAG)?.length ?? 0;
}
