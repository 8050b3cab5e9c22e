import type { Locale } from "@postrider/rest/locale";
import { MESSAGES_EN } from "#src/http/messages-en.ts";
import { MESSAGES_KO } from "#src/http/messages-ko.ts";

/**
 * Parameters of an error message. A part of the message in square brackets is omitted if one of its parameters is
 * missing.
 */
export type MessageParams = Readonly<Record<string, string | number | undefined>>;

const CATALOGUES: Readonly<Record<Locale, ReadonlyMap<string, string>>> = {
  en: new Map(Object.entries(MESSAGES_EN)),
  ko: new Map(Object.entries(MESSAGES_KO)),
};

const FALLBACKS: Readonly<Record<Locale, string>> = {
  en: MESSAGES_EN.invalid,
  ko: MESSAGES_KO.invalid,
};

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
  return CATALOGUES.en.has(code);
}

/** Returns the message of an error or an error detail. A code without a message gets a general message. */
export function messageFor(locale: Locale, code: string, params: MessageParams = {}): string {
  return fill(CATALOGUES[locale].get(code) ?? FALLBACKS[locale], params);
}

function fill(template: string, params: MessageParams): string {
  return template.replaceAll(/\[([^\]]*)\]/g, (_, part: string) => fillPart(part, params));
}

function fillPart(part: string, params: MessageParams): string {
  let complete = true;
  const text = part.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    complete &&= value !== undefined;
    return String(value);
  });
  return complete ? text : "";
}
