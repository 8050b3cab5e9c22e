/** A platform's answer. `json` is undefined when the body is no JSON object. */
export interface PlatformAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Whole numbers that JavaScript cannot hold exactly are strings of their digits. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

/** No answer of these APIs comes near it; more is a broken or hostile host. */
export const MAX_ANSWER_BYTES = 1024 * 1024;
const BIG_NUMBER = /\d{16}/;
/** Shorter ones are no real secrets, and would be found by chance. */
const MIN_SECRET_LENGTH = 8;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) ? source : value;
}

function parseObject(text: string): PlatformAnswer["json"] {
  try {
    const value: unknown = BIG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes an answer of what came.
 *
 * @param secrets What the request proved itself with: a platform may quote it in its words, which are stored and shown.
 */
export function toAnswer(
  status: number,
  headers: PlatformAnswer["headers"],
  body: string,
  secrets: readonly string[],
): PlatformAnswer {
  let clean = body;
  for (const secret of secrets)
    if (secret.length >= MIN_SECRET_LENGTH) clean = clean.replaceAll(secret, "***");
  return { kind: "answer", status, headers, json: parseObject(clean) };
}

/** A header with one value. */
export function header(answer: PlatformAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** A property that is a string, or undefined. */
export function text(object: unknown, name: string): string | undefined {
  if (!isObject(object)) return undefined;
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}

/** A property that is an object, or undefined. */
export function object(
  value: unknown,
  name: string,
): Readonly<Record<string, unknown>> | undefined {
  const found = isObject(value) ? value[name] : undefined;
  return isObject(found) ? found : undefined;
}

/** A property that is a list, or an empty one. */
export function list(value: unknown, name: string): readonly unknown[] {
  const found = isObject(value) ? value[name] : undefined;
  return Array.isArray(found) ? found : [];
}

/** What a platform said, short enough to store and show. */
export function shorten(message: string | undefined): string {
  const line = (message ?? "").replaceAll(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
