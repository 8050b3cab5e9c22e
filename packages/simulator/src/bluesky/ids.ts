import { createHash, randomInt } from "node:crypto";
import { isRecord } from "#src/http/call.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
/**
 * First bytes of the CID of a Bluesky record, before the digest: CID version 1, DAG-CBOR codec,
 * SHA-256, 32 bytes.
 */
const PREFIX = Buffer.from([0x01, 0x71, 0x12, 0x20]);
/**
 * First bytes of the CID of a file on Bluesky, before the digest: CID version 1, raw codec,
 * SHA-256, 32 bytes.
 */
const RAW_PREFIX = Buffer.from([0x01, 0x55, 0x12, 0x20]);

function base32(bytes: Buffer): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      text += ALPHABET[(value >>> (bits - 5)) & 31] ?? "";
      bits -= 5;
    }
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + (ALPHABET[(value << (5 - bits)) & 31] ?? "") : text;
}

/**
 * Serializes a value as JSON with sorted keys, so that two values with the same fields in different
 * order give the same text.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const fields = Object.keys(value).sort();
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

/**
 * The CID of a Bluesky record. Records with equal content have equal CIDs. A real server computes
 * other CIDs, because it hashes CBOR instead of JSON.
 */
export function cidOf(content: unknown): string {
  const digest = createHash("sha256").update(canonical(content)).digest();
  return `b${base32(Buffer.concat([PREFIX, digest]))}`;
}

/** The CID of a file, equal to the CID that a real Bluesky server computes. */
export function blobCidOf(sha256: string): string {
  return `b${base32(Buffer.concat([RAW_PREFIX, Buffer.from(sha256, "hex")]))}`;
}

const TID_ALPHABET = "234567abcdefghijklmnopqrstuvwxyz";
const TID = /^[234567abcdefghij][234567a-z]{12}$/;
const CLOCK_BITS = 10n;
const CHARACTERS = 13;

export function isTid(text: string): boolean {
  return TID.test(text);
}

/** Microseconds and a clock id in sortable base 32. */
export class Tids {
  readonly #clockId = BigInt(randomInt(1 << Number(CLOCK_BITS)));
  #latestMicros = 0n;

  next(now: number): string {
    const micros = BigInt(now) * 1000n;
    this.#latestMicros = micros > this.#latestMicros ? micros : this.#latestMicros + 1n;
    let rest = (this.#latestMicros << CLOCK_BITS) | this.#clockId;
    let text = "";
    for (let index = 0; index < CHARACTERS; index += 1) {
      text = (TID_ALPHABET[Number(rest & 31n)] ?? "") + text;
      rest >>= 5n;
    }
    return text;
  }
}
