import type { Locale } from "@postrider/rest/locale";
import type { DetailEntry } from "#src/http/catalogue/entry.ts";
import { ERRORS } from "#src/http/catalogue/errors.ts";
import { SPECIAL_TEXTS } from "#src/http/catalogue/special-texts.ts";
import { DETAILS } from "#src/http/error-codes.ts";

/** Parameters of an error message, see `DetailEntry`. */
export type MessageParams = Readonly<Record<string, string | number | undefined>>;

const ENTRIES: ReadonlyMap<string, DetailEntry> = new Map(
  Object.entries({ ...ERRORS, ...DETAILS, ...SPECIAL_TEXTS }),
);

/**
 * Returns the language of an answer: the supported language with the highest weight in `Accept-Language`. Of two
 * languages with the same weight the first is chosen. If no supported language is listed, `defaultLocale` is returned.
 */
export function chooseLocale(acceptLanguage: string | undefined, defaultLocale: Locale): Locale {
  if (acceptLanguage === undefined) return defaultLocale;
  let best = { locale: defaultLocale, weight: 0 };
  for (const range of acceptLanguage.split(",")) {
    const candidate = parseLanguageRange(range, defaultLocale);
    if (candidate !== undefined && candidate.weight > best.weight) best = candidate;
  }
  return best.locale;
}

function parseLanguageRange(
  range: string,
  wildcard: Locale,
): { locale: Locale; weight: number } | undefined {
  const [tag = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  const locale = toLocale(tag, wildcard);
  if (locale === undefined) return undefined;
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  const weight = quality === undefined ? 1 : Number(quality.slice("q=".length));
  return weight > 0 && weight <= 1 ? { locale, weight } : undefined;
}

function toLocale(tag: string, wildcard: Locale): Locale | undefined {
  if (tag === "*") return wildcard;
  const [language] = tag.split("-", 1);
  return language === "en" || language === "ko" ? language : undefined;
}

/** Whether an error message exists for the code. */
export function hasMessage(code: string): boolean {
  return ENTRIES.has(code);
}

/** Returns the unit of `limit` and `actual` of an error detail, if its code determines it. */
export function unitOf(code: string): string | undefined {
  return ENTRIES.get(code)?.unit;
}

/** Returns the message of an error or an error detail: cause and remedy. A code without a message gets a general one. */
export function messageFor(locale: Locale, code: string, params: MessageParams = {}): string {
  const { texts } = ENTRIES.get(code) ?? DETAILS.invalid;
  return texts[locale].map((text) => fill(text, params)).join(" ");
}

function fill(template: string, params: MessageParams): string {
  const filled = template.replaceAll(/\[([^\]]*)\]/g, (_, part: string) => fillPart(part, params));
  return filled.replaceAll(
    /\{(\w+)\|([^}]*)\}/g,
    (_, name: string, otherwise: string) => `${valueOf(params, name) ?? otherwise}`,
  );
}

function fillPart(part: string, params: MessageParams): string {
  let complete = true;
  const text = part.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = valueOf(params, name);
    complete &&= value !== undefined;
    return String(value);
  });
  return complete ? text : "";
}

function valueOf(params: MessageParams, name: string): string | number | undefined {
  return Object.hasOwn(params, name) ? params[name] : undefined;
}
