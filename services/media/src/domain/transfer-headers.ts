import { createHash, type Hash } from "node:crypto";

export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

const ONE_RANGE = /^bytes=[\t ]*(\d*)-(\d*)[\t ]*$/i;

/**
 * Parses a `Range` header; undefined for the whole object: no header, or one that RFC 9110 lets a
 * server ignore.
 */
export function parseRangeHeader(
  header: string | undefined,
  total: number,
): ByteRange | "unsatisfiable" | undefined {
  const match = header === undefined ? null : ONE_RANGE.exec(header);
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first !== "")
    return fromStart(Number(first), last === "" ? Number.POSITIVE_INFINITY : Number(last), total);
  return last === "" ? undefined : fromEnd(Number(last), total);
}

function fromStart(
  start: number,
  end: number,
  total: number,
): ByteRange | "unsatisfiable" | undefined {
  if (end < start) return undefined;
  if (start >= total) return "unsatisfiable";
  return { start, length: Math.min(end, total - 1) - start + 1 };
}

function fromEnd(count: number, total: number): ByteRange | "unsatisfiable" {
  if (count === 0) return "unsatisfiable";
  const length = Math.min(count, total);
  return { start: total - length, length };
}

const ALGORITHMS: ReadonlyMap<string, { readonly name: string; readonly bytes: number }> = new Map([
  ["sha-256", { name: "sha256", bytes: 32 }],
  ["sha-512", { name: "sha512", bytes: 64 }],
]);

/** A member of a structured-field dictionary (RFC 8941) whose value is a byte sequence. */
const MEMBER = /^[\t ]*([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):(?:;[^,]*)?[\t ]*$/;

/** A hash that the body of a request must have. */
export interface BodyDigest {
  readonly algorithm: string;
  readonly expected: Buffer;
}

/**
 * Parses a `Content-Digest` header (RFC 9530); undefined when it is malformed. Unknown algorithms
 * are ignored, and of two equal keys the last one counts, as the RFCs demand.
 */
export function parseContentDigest(header: string): readonly BodyDigest[] | undefined {
  const digests = new Map<string, BodyDigest>();
  for (const member of header.split(",")) {
    const match = MEMBER.exec(member);
    if (match === null) return undefined;
    const [, key = "", value = ""] = match;
    const algorithm = ALGORITHMS.get(key);
    const expected = Buffer.from(value, "base64");
    if (algorithm === undefined) continue;
    if (expected.length !== algorithm.bytes) return undefined;
    digests.set(key, { algorithm: algorithm.name, expected });
  }
  return [...digests.values()];
}

/** Compares a body, passed in chunks, with its `Content-Digest` header. */
export class DigestCheck {
  readonly #hashes: readonly { readonly hash: Hash; readonly expected: Buffer }[];

  constructor(digests: readonly BodyDigest[]) {
    this.#hashes = digests.map(({ algorithm, expected }) => ({
      hash: createHash(algorithm),
      expected,
    }));
  }

  update(chunk: Uint8Array): void {
    for (const { hash } of this.#hashes) hash.update(chunk);
  }

  /** Call it once, after the last chunk. */
  matches(): boolean {
    return this.#hashes.every(({ hash, expected }) => hash.digest().equals(expected));
  }
}
