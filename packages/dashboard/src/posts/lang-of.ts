const HANGUL = /[\uAC00-\uD7A3]/;

/** The language of a text as far as it decides how lines break: Korean breaks between words. */
export function langOf(text: string): "ko" | undefined {
  return HANGUL.test(text) ? "ko" : undefined;
}
