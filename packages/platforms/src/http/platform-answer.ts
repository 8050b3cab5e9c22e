/** A platform's answer to an HTTP request. `json` is undefined when the body is not a JSON object. */
export interface PlatformAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * The body of the answer as a JSON object. Integers that JavaScript cannot represent exactly are strings of their
   * digits. Every text in it can be stored: it contains no NUL character and no half of a surrogate pair.
   */
  readonly json: JsonObject | undefined;
}

/**
 * Maximum size in bytes of a platform's answer, unless the call states another one. Normal answers are far smaller; a larger answer comes from a broken or
 * hostile host.
 */
export const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Returns the maximum size in bytes of a platform's list of texts that its users write, such as comments: the list with the
 * longest texts must still be read, or a stranger could keep an account from its comments by writing some. No list is limited
 * below `MAX_ANSWER_BYTES`.
 *
 * @param entries Number of entries that the list has at most.
 * @param maxCharacters Maximum number of characters that the platform accepts in one entry.
 */
export function maxListBytes(entries: number, maxCharacters: number): number {
  // In JSON a character takes up to 12 bytes, as two escaped UTF-16 units. The rest is for the other fields of an entry.
  return Math.max(MAX_ANSWER_BYTES, entries * (12 * maxCharacters + 16_384));
}

/** Maximum length of a platform's error message that is stored and shown. */
const MAX_MESSAGE_LENGTH = 300;
const BIG_NUMBER = /\d{16}/;

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) ? source : value;
}

/**
 * Matches the escapes with which JSON text can contain a NUL character or half of a surrogate pair. JSON text cannot contain
 * either of them unescaped.
 */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/**
 * Replaces NUL characters and halves of surrogate pairs, which Postgres stores neither as text nor as JSON, with the
 * replacement character.
 */
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

/** Builds a platform's answer from the received status, headers and body. The caller must have redacted the body. */
export function toAnswer(
  status: number,
  headers: PlatformAnswer["headers"],
  body: string,
): PlatformAnswer {
  return { kind: "answer", status, headers, json: parseObject(body) };
}

/** Returns the first value of a header of a platform's answer. */
export function header(answer: PlatformAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Returns a platform's error message on one line, shortened to the maximum length, as text that can be stored. */
export function shorten(message: string | undefined): string {
  const line = toStorable(message ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= MAX_MESSAGE_LENGTH) return line;
  // Shortening the text can cut a character of two UTF-16 units in half. The half that remains at the end is removed.
  const start = line.slice(0, MAX_MESSAGE_LENGTH - 1).replace(/[\ud800-\udbff]$/, "");
  return `${start}…`;
}

/** Returns the error message to store for an answer that contains no message of the platform. */
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

/** Whether a network failure means that the called server did not answer in time. */
export function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /TIMEOUT|ETIMEDOUT/.test(codeOf(error)) || error.name === "TimeoutError";
}

/**
 * Describes a network failure for people. The text of the network error itself is never used, because it may contain a
 * URL with a token in it.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "the network failed";
  const code = codeOf(error);
  if (BROKEN.has(code)) return "the connection broke before an answer came";
  if (UNREACHABLE.has(code)) return "the platform cannot be reached";
  return isTimeout(error) ? "the platform did not answer in time" : "the network failed";
}

/** A JSON object whose properties are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object; a JSON array is not. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function property(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** Returns the named property of a JSON object if it is a non-empty string, else undefined. */
export function text(value: unknown, name: string): string | undefined {
  const found = property(value, name);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** Returns the named property of a JSON object if it is a number, else undefined. */
export function number(value: unknown, name: string): number | undefined {
  const found = property(value, name);
  return typeof found === "number" ? found : undefined;
}

/** Returns the named property of a JSON object if it is itself a JSON object, else undefined. */
export function object(value: unknown, name: string): JsonObject | undefined {
  const found = property(value, name);
  return isObject(found) ? found : undefined;
}

/** Returns the named property of a JSON object if it is a JSON array, else an empty list. */
export function list(value: unknown, name: string): readonly unknown[] {
  const found = property(value, name);
  return Array.isArray(found) ? found : [];
}
