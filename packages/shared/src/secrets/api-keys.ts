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
const SHOWN_CHARACTERS = 12;
const REST = new RegExp(`^[0-9A-Za-z]{${SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

function toBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}

function checksum(text: string): string {
  return toBase62(BigInt(crc32(text)), CHECKSUM_CHARACTERS);
}

/** The prefix, 43 base62 characters of 32 random bytes, and 6 of the CRC32 (IEEE) of both. */
export function formatApiKey(secret: Uint8Array, kind: keyof typeof PREFIXES = "key"): string {
  if (secret.length !== SECRET_BYTES)
    throw new RangeError(`an API key must have ${SECRET_BYTES} bytes`);
  const value = BigInt(`0x${Buffer.from(secret).toString("hex")}`);
  const body = PREFIXES[kind] + toBase62(value, SECRET_CHARACTERS);
  return body + checksum(body);
}

/** Any other text was never issued as a key. */
export function isApiKey(text: string, kind: keyof typeof PREFIXES = "key"): boolean {
  if (!text.startsWith(PREFIXES[kind]) || !REST.test(text.slice(PREFIXES[kind].length)))
    return false;
  const body = text.slice(0, -CHECKSUM_CHARACTERS);
  return checksum(body) === text.slice(-CHECKSUM_CHARACTERS);
}

/** Whether a text may be an API key or the token of a session. */
export function isCredential(text: string): boolean {
  return isApiKey(text) || isApiKey(text, "session");
}

/** The only form that is stored or sent. 256 random bits need no slow hash. */
export function hashApiKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** Returns the first characters of a key, by which people recognise it. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, SHOWN_CHARACTERS);
}
