import type { Locale } from "@postrider/rest/locale";

type Texts = readonly [cause: string, remedy: string];

/**
 * An error detail in all languages. A part in square brackets is omitted if one of its parameters
 * is missing; `{name|text}` stands for the parameter or, without it, for the text.
 */
export interface DetailEntry {
  readonly texts: Readonly<Record<Locale, Texts>>;
  /** Unit of `limit` and `actual`, if all details with this code have the same unit. */
  readonly unit?: string;
}

export interface ErrorEntry extends DetailEntry {
  readonly status: number;
}

export function error(status: number, en: Texts, ko: Texts, unit?: string): ErrorEntry {
  return { status, ...detail(en, ko, unit) };
}

export function detail(en: Texts, ko: Texts, unit?: string): DetailEntry {
  return unit === undefined ? { texts: { en, ko } } : { texts: { en, ko }, unit };
}
