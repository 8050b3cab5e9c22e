import type { Locale } from "@postrider/rest/locale";

export type RequestPart = "body" | "query" | "header";

const PARTS: Readonly<Record<Locale, Readonly<Record<"query" | "header", string>>>> = {
  en: { query: "query parameter", header: "header" },
  ko: { query: "쿼리 매개변수", header: "헤더" },
};

/**
 * Returns the location of a mistake as people write it, for example `targets[0].title` or
 * `query parameter limit`; undefined for the whole request.
 *
 * @param path JSON Pointer.
 */
export function namePlace(
  path: string | undefined,
  part: RequestPart,
  locale: Locale,
): string | undefined {
  if (path === undefined || path === "") return undefined;
  const name = path
    .split("/")
    .slice(1)
    .map((each) => each.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((whole, each) => whole + (/^\d+$/.test(each) ? `[${each}]` : `.${each}`), "")
    .replace(/^\./, "");
  return part === "body" ? name : `${PARTS[locale][part]} ${name}`;
}
