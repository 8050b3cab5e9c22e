import type { Locale } from "@postrider/rest/locale";
import { detail, type DetailEntry } from "#src/http/catalogue/entry.ts";
import { ALL_DETAILS, ALL_ERRORS } from "#src/http/error-codes.ts";

/** The texts for a retry of a webhook delivery that is still being attempted. */
const UNFINISHED = detail(
  [
    "This delivery has not failed: it is attempted by itself until it succeeds or fails.",
    "Wait, and send this only once its status is failed.",
  ],
  [
    "아직 실패하지 않은 전송이며, 성공하거나 실패할 때까지 자동으로 시도됩니다.",
    "기다렸다가 상태가 failed일 때만 보내 주세요.",
  ],
);

/**
 * Texts that replace the text of an error code in special cases; the answer still contains the code
 * itself. The key `code.variant` is for one variant of an error detail, and `error.status` for an
 * error that the status of a resource causes.
 */
export const SPECIAL_TEXTS = {
  "unavailable.moving": detail(
    [
      "The workspace is being moved, which takes some minutes: it can be read, but not changed.",
      "Wait as long as Retry-After says and try again.",
    ],
    [
      "워크스페이스를 옮기는 중이라 몇 분 동안 조회만 할 수 있고 변경할 수 없습니다.",
      "Retry-After만큼 기다린 뒤 다시 시도해 주세요.",
    ],
  ),
  "additional_property.renamed": detail(
    [
      "There is no {noun|field} with this name here.",
      "Send this instead: {expected|one that the API description names}.",
    ],
    [
      "이런 이름의 {noun|항목}이 여기에는 없습니다.",
      "대신 {expected|API 설명에 있는 항목}(을)를 보내 주세요.",
    ],
  ),
  "additional_property.each": detail(
    [
      "There is no {noun|field} with this name here.",
      "Send one request for each item, with {expected|the field that the API description names}.",
    ],
    [
      "이런 이름의 {noun|항목}이 여기에는 없습니다.",
      "항목마다 한 번씩 {expected|API 설명에 있는 항목}(으)로 요청을 보내 주세요.",
    ],
  ),
  "additional_property.wrapper": detail(
    [
      "There is no {noun|field} with this name here.",
      "Send what is in it at the top level[: {expected}].",
    ],
    [
      "이런 이름의 {noun|항목}이 여기에는 없습니다.",
      "그 안의 값을 최상위에 보내 주세요[({expected})].",
    ],
  ),
  "invalid_json.unescaped": detail(
    [
      "A text in the body contains {found|a control character} as it is[, at {reason}], which JSON does not allow.",
      "Send it as {expected|its escape}; programs do this when they build the body with a JSON function instead of a template.",
    ],
    [
      "본문의 글에 제어 문자가 그대로 들어 있습니다[({reason})][({found})].",
      "JSON에서는 {expected|이스케이프}(으)로 써 주세요. 템플릿 대신 JSON 함수로 본문을 만들면 자동으로 처리됩니다.",
    ],
  ),
  "invalid_json.byte_order_mark": detail(
    [
      "The body begins with a byte order mark, which JSON does not allow.",
      "Send UTF-8 without it; editors call this “UTF-8”, not “UTF-8 with BOM”.",
    ],
    [
      "본문이 바이트 순서 표시(BOM)로 시작하는데, JSON에서는 쓸 수 없습니다.",
      "BOM 없는 UTF-8로 보내 주세요.",
    ],
  ),
  "type.null": detail(
    [
      "This value is null.",
      "Send {expected|the type that the API description names}, or leave the field out unless it is required.",
    ],
    [
      "값이 null입니다.",
      "{expected|API 설명에 있는 형식}(으)로 보내거나, 필수가 아니면 항목을 빼 주세요.",
    ],
  ),
  "format.no_such_day": detail(
    ["This date does not exist[: {found}].", "Send {expected|a date that exists}."],
    ["존재하지 않는 날짜입니다[({found})].", "존재하는 날짜를 보내 주세요[({expected})]."],
  ),
  "invalid_header.workspace": detail(
    [
      "This is not the id of a workspace.",
      "Send {expected|a UUID}[: {choice}]; or leave the header out if the key has only one.",
    ],
    [
      "워크스페이스의 id가 아닙니다.",
      "{expected|UUID}(을)를 보내고[: {choice}], 키의 워크스페이스가 하나뿐이면 헤더를 빼 주세요.",
    ],
  ),
  "invalid_transition.published": detail(
    [
      "The post is already published.",
      "To publish it again, create a new post with POST /posts. Send this only while the status is {choice|another one}.",
    ],
    [
      "이미 게시된 게시물입니다.",
      "다시 게시하려면 POST /posts로 새 게시물을 만들어 주세요. 이 작업은 상태가 {choice|다를} 때만 가능합니다.",
    ],
  ),
  "delivery_not_failed.pending": UNFINISHED,
  "delivery_not_failed.delivering": UNFINISHED,
  "delivery_not_failed.succeeded": detail(
    [
      "This delivery succeeded, so there is nothing to retry.",
      "Send this only for a delivery whose status is failed; GET /webhooks/ID/deliveries?status=failed lists them.",
    ],
    [
      "이미 성공한 전송이라 다시 보낼 것이 없습니다.",
      "상태가 failed인 전송에만 사용해 주세요. GET /webhooks/ID/deliveries?status=failed로 조회할 수 있습니다.",
    ],
  ),
  "delivery_not_failed.cancelled": detail(
    [
      "This delivery was cancelled, so it cannot be sent again.",
      "Send this only for a delivery whose status is failed; GET /webhooks/ID/deliveries?status=failed lists them.",
    ],
    [
      "취소된 전송이라 다시 보낼 수 없습니다.",
      "상태가 failed인 전송에만 사용해 주세요. GET /webhooks/ID/deliveries?status=failed로 조회할 수 있습니다.",
    ],
  ),
  "invalid_etag.unquoted": detail(
    [
      "This is not an ETag, because it has no double quotes[: {found}].",
      "Send {expected|the ETag}, quotes included, as the header ETag of the answer shows it.",
    ],
    [
      "큰따옴표가 없어 ETag가 아닙니다[({found})].",
      "응답의 ETag 헤더에 있는 그대로 따옴표까지 {expected|ETag}(을)를 보내 주세요.",
    ],
  ),
};

/** Parameters of an error message, see `DetailEntry`. */
export type MessageParams = Readonly<Record<string, string | number | undefined>>;

const ENTRIES: ReadonlyMap<string, DetailEntry> = new Map(
  Object.entries({ ...ALL_ERRORS, ...ALL_DETAILS, ...SPECIAL_TEXTS }),
);

/**
 * Returns the language of an answer: the supported language with the highest weight in
 * `Accept-Language`. Of two languages with the same weight the first is chosen. If no supported
 * language is listed, `defaultLocale` is returned.
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

/** Cause and remedy. A code without a message gets a general one. */
export function messageFor(locale: Locale, code: string, params: MessageParams = {}): string {
  const { texts } = ENTRIES.get(code) ?? ALL_DETAILS.invalid;
  return texts[locale].map((text) => fill(text, params)).join(" ");
}

type Piece = (params: MessageParams) => string;

/**
 * The pieces of the texts that were used. An answer can have 100 details, so a text is read once.
 */
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
