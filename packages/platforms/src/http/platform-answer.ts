import { isObject, type JsonObject } from "./json.ts";

/** A platform's answer. `json` is undefined when the body is not a JSON object. */
export interface PlatformAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Integers that JavaScript cannot represent exactly are strings of their digits. */
  readonly json: JsonObject | undefined;
}

/**
 * Maximum size of an answer. Normal answers of the platforms are far smaller; a larger answer comes from a broken or
 * hostile host.
 */
export const MAX_ANSWER_BYTES = 1024 * 1024;
/** Maximum length of a platform's message that is stored and shown. */
const MAX_MESSAGE_LENGTH = 300;
const BIG_NUMBER = /\d{16}/;

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) ? source : value;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = BIG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Builds the answer from the received status, headers and body. The caller must have redacted the body. */
export function toAnswer(
  status: number,
  headers: PlatformAnswer["headers"],
  body: string,
): PlatformAnswer {
  return { kind: "answer", status, headers, json: parseObject(body) };
}

/** Returns the first value of a header. */
export function header(answer: PlatformAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Returns a platform's message on one line, shortened to the maximum length. */
export function shorten(message: string | undefined): string {
  const line = (message ?? "").replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : line;
}

/** Returns the text to store as the message of an answer that contains no message of the platform. */
export function describeStatus({ status }: PlatformAnswer): string {
  return `HTTP ${status} without a readable answer`;
}
