import { type Language, useSettings } from "../settings/settings.ts";

/**
 * The words of one part of the page in each language; `ko: typeof en` makes a missing one an error.
 */
export type Words<T> = Readonly<Record<Language, T>>;

export function useWords<T>(words: Words<T>): T {
  return words[useSettings().language];
}
