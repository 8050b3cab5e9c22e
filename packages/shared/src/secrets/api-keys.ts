import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Of an API key, and of the token of a dashboard session, which only a cookie carries. */
const PREFIXES = { key: "pr_live_", session: "pr_session_" } as const;
/** 62^43 is the first power above 2^256. */
const SECRET_CHARACTERS = 43;
const SECRET_BYTES = 32;
/** 62^6 is the first power above 2^32. */
const CHECKSUM_CHARACTERS = 6;
/** Of the secret. */
const SHOWN_CHARACTERS = 4;
/** So short that a cell can be a part of a host name and of each key. */
export const CELL_NAME = "[a-z0-9]{1,8}";
const REST = `[0-9A-Za-z]{${SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}$`;
// Base62 has no underscore, so a key with a cell is never taken for one without.
const FORMS = {
  key: new RegExp(`^${PREFIXES.key}(?:(${CELL_NAME})_)?${REST}`),
  session: new RegExp(`^${PREFIXES.session}${REST}`),
} as const;

function toBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}

function checksum(text: string): string {
  return toBase62(BigInt(crc32(text)), CHECKSUM_CHARACTERS);
}

/**
 * The prefix, the cell that issues the key, if it has a name, 43 base62 characters of 32 random
 * bytes, and 6 of the CRC32 (IEEE) of all of them.
 */
export function formatApiKey(
  secret: Uint8Array,
  kind: keyof typeof PREFIXES = "key",
  cell?: string,
): string {
  if (secret.length !== SECRET_BYTES)
    throw new RangeError(`an API key must have ${SECRET_BYTES} bytes`);
  const value = BigInt(`0x${Buffer.from(secret).toString("hex")}`);
  const start = PREFIXES[kind] + (cell === undefined ? "" : `${cell}_`);
  const body = start + toBase62(value, SECRET_CHARACTERS);
  const key = body + checksum(body);
  if (!FORMS[kind].test(key)) throw new RangeError(`a cell of an API key must match ${CELL_NAME}`);
  return key;
}

/** Returns the cell in a key; undefined if the text was never issued as a key. */
export function parseApiKey(
  text: string,
  kind: keyof typeof PREFIXES = "key",
): { readonly cell: string | undefined } | undefined {
  const form = FORMS[kind].exec(text);
  if (form === null) return undefined;
  const body = text.slice(0, -CHECKSUM_CHARACTERS);
  return body + checksum(body) === text ? { cell: form[1] } : undefined;
}

/** Any other text was never issued as a key. */
export function isApiKey(text: string, kind: keyof typeof PREFIXES = "key"): boolean {
  return parseApiKey(text, kind) !== undefined;
}

/** Whether a text may be an API key or the token of a session. */
export function isCredential(text: string): boolean {
  return isApiKey(text) || isApiKey(text, "session");
}

/** The only form that is stored or sent. 256 random bits need no slow hash. */
export function hashApiKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** Returns the start of a key, with its cell, by which people recognise it. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, key.lastIndexOf("_") + 1 + SHOWN_CHARACTERS);
}

/** Returns the cell in the start of a key that `apiKeyPrefix` has returned. */
export function cellOfPrefix(prefix: string): string | undefined {
  return new RegExp(`^${PREFIXES.key}(${CELL_NAME})_`).exec(prefix)?.[1];
}
