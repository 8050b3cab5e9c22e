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

type Piece = (params: MessageParams) => string;

/** The pieces of the texts that were used. An answer can have 100 details, so a text is read once. */
const known = new Map<string, readonly Piece[]>();

function fill(template: string, params: MessageParams): string {
  let pieces = known.get(template);
  if (pieces === undefined) known.set(template, (pieces = readPieces(template)));
  return pieces.map((piece) => piece(params)).join("");
}

function readPieces(template: string): Piece[] {
  return template.split(/(\[[^\]]*\]|\{\w+\|[^}]*\})/).map((part): Piece => {
    if (part.startsWith("[")) return readOptional(part.slice(1, -1));
    const [, name, otherwise] = /^\{(\w+)\|(.*)\}$/.exec(part) ?? [];
    if (name === undefined) return () => part;
    return (params) => `${valueOf(params, name) ?? otherwise}`;
  });
}

function readOptional(part: string): Piece {
  const [begin = "", ...rest] = part.split(/\{(\w+)\}/);
  return (params) => {
    let text = begin;
    for (let at = 0; at < rest.length; at += 2) {
      const value = valueOf(params, rest[at] ?? "");
      if (value === undefined) return "";
      text += `${value}${rest[at + 1] ?? ""}`;
    }
    return text;
  };
}

function valueOf(params: MessageParams, name: string): string | number | undefined {
  return Object.hasOwn(params, name) ? params[name] : undefined;
}
