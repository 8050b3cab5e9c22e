import type { Locale } from "@postrider/rest/locale";

/** The text about an error in one language: the cause of the error, and its remedy. */
type Texts = readonly [cause: string, remedy: string];

/**
 * An error detail in all languages. A part in square brackets is omitted if one of its parameters is missing; `{name|text}` stands
 * for the parameter or, without it, for the text.
 */
export interface DetailEntry {
  readonly texts: Readonly<Record<Locale, Texts>>;
  /** Unit of `limit` and `actual`, if all details with this code have the same unit. */
  readonly unit?: string;
}

/** An error of the API. */
export interface ErrorEntry extends DetailEntry {
  /** The HTTP status of an answer with this error. */
  readonly status: number;
}

export function error(status: number, en: Texts, ko: Texts, unit?: string): ErrorEntry {
  return { status, ...detail(en, ko, unit) };
}

export function detail(en: Texts, ko: Texts, unit?: string): DetailEntry {
  return unit === undefined ? { texts: { en, ko } } : { texts: { en, ko }, unit };
}
