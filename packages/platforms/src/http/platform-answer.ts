import { isObject } from "@postrider/shared/is-object";

export interface PlatformAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * Integers that JavaScript cannot represent exactly are strings of their digits. Every text can
   * be stored: it contains no NUL character and no half of a surrogate pair.
   */
  readonly json: JsonObject | undefined;
}

/**
 * Maximum size in bytes of a platform's answer, unless the call states another one. Normal answers
 * are far smaller; a larger answer comes from a broken or hostile host.
 */
export const MAX_ANSWER_BYTES = 1024 * 1024;

/** Of a host that the owner of an account chose: parsing takes a few milliseconds at most. */
export const MAX_FOREIGN_ANSWER_BYTES = 256 * 1024;

/**
 * The list with the longest texts that users write must still be read, or a stranger could keep an
 * account from its comments by writing some. Never below `MAX_ANSWER_BYTES`.
 */
export function maxListBytes(entries: number, maxCharacters: number): number {
  // In JSON a character takes up to 12 bytes, as two escaped UTF-16 units. The rest is for the
  // other fields of an entry.
  return Math.max(MAX_ANSWER_BYTES, entries * (12 * maxCharacters + 16_384));
}

const MAX_MESSAGE_LENGTH = 300;
const BIG_NUMBER = /\d{16}/;

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) ? source : value;
}

/**
 * Matches the escapes with which JSON text can contain a NUL character or half of a surrogate pair.
 * JSON text cannot contain either of them unescaped.
 */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/** Postgres stores NUL characters and halves of surrogate pairs neither as text nor as JSON. */
function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

function toStorableValue(value: unknown): unknown {
  if (typeof value === "string") return toStorable(value);
  if (Array.isArray(value)) return value.map(toStorableValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [toStorable(name), toStorableValue(each)]),
  );
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = BIG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
    const value = UNSTORABLE.test(text) ? toStorableValue(parsed) : parsed;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function toAnswer(
  status: number,
  headers: PlatformAnswer["headers"],
  body: string,
): PlatformAnswer {
  return { kind: "answer", status, headers, json: parseObject(body) };
}

export function header(answer: PlatformAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

export function shorten(message: string | undefined): string {
  const line = toStorable(message ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= MAX_MESSAGE_LENGTH) return line;
  // The cut may leave half of a character of two UTF-16 units.
  const start = line.slice(0, MAX_MESSAGE_LENGTH - 1).replace(/[\ud800-\udbff]$/, "");
  return `${start}…`;
}

export function describeStatus({ status }: PlatformAnswer): string {
  return `HTTP ${status} without a readable answer`;
}

const BROKEN = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "UND_ERR_ABORTED"]);
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : "";
}

export function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /TIMEOUT|ETIMEDOUT/.test(codeOf(error)) || error.name === "TimeoutError";
}

/**
 * The text of the network error itself is never used, because it may contain a URL with a token in
 * it.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "the network failed";
  const code = codeOf(error);
  if (BROKEN.has(code)) return "the connection broke before an answer came";
  if (UNREACHABLE.has(code)) return "the platform cannot be reached";
  return isTimeout(error) ? "the platform did not answer in time" : "the network failed";
}

export type JsonObject = Readonly<Record<string, unknown>>;

function property(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

export function text(value: unknown, name: string): string | undefined {
  const found = property(value, name);
  return typeof found === "string" && found !== "" ? found : undefined;
}

export function number(value: unknown, name: string): number | undefined {
  const found = property(value, name);
  return typeof found === "number" ? found : undefined;
}

/** Null also for a number that counts nothing: neither the database nor the API can hold it. */
export function count(value: unknown, name: string): number | null {
  const found = number(value, name) ?? -1;
  return Number.isSafeInteger(found) && found >= 0 ? found : null;
}

/** Neither Postgres nor protobuf can store other years. */
const [FIRST_TIME, LAST_TIME] = [
  Date.parse("0001-01-01T00:00:00Z"),
  Date.parse("9999-12-31T23:59:59Z"),
];

/** Undefined also for a time that cannot be stored. */
export function time(value: unknown, name: string): Date | undefined {
  const found = Date.parse(text(value, name) ?? "");
  return found >= FIRST_TIME && found <= LAST_TIME ? new Date(found) : undefined;
}

export function object(value: unknown, name: string): JsonObject | undefined {
  const found = property(value, name);
  return isObject(found) ? found : undefined;
}

export function list(value: unknown, name: string): readonly unknown[] {
  const found = property(value, name);
  return Array.isArray(found) ? found : [];
}
