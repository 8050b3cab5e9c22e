import type { Locale } from "#src/locale.ts";
import { TARGET_MESSAGES_EN } from "#src/posts/target-messages-en.ts";
import { TARGET_MESSAGES_KO } from "#src/posts/target-messages-ko.ts";

const CATALOGUES: Readonly<Record<Locale, ReadonlyMap<string, string>>> = {
  en: new Map(Object.entries(TARGET_MESSAGES_EN)),
  ko: new Map(Object.entries(TARGET_MESSAGES_KO)),
};

const FALLBACKS: Readonly<Record<Locale, string>> = {
  en: TARGET_MESSAGES_EN.internal_error,
  ko: TARGET_MESSAGES_KO.internal_error,
};

/**
 * Returns the message for a failed publishing target of a post. A code without a message gets the message of
 * `internal_error`.
 */
export function targetMessageFor(locale: Locale, code: string): string {
  return CATALOGUES[locale].get(code) ?? FALLBACKS[locale];
}
