import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * The values (claims) in a signed token. Everyone who has the token can read them, so they must not contain secrets.
 */
export type Claims = Readonly<Record<string, string>>;

interface Body {
  readonly claims: Claims;
  /** Expiry of the signed token in seconds since 1970. */
  readonly expires: number;
}

/**
 * Creates a signed token with the values `claims`, which is valid until `expiresAt` and safe in a URL. Every process
 * with the key can verify it.
 *
 * @param purpose What the token is for. A token for one purpose is not valid for another one, even with the same key.
 */
export function signToken(key: string, purpose: string, claims: Claims, expiresAt: Date): string {
  const body: Body = { claims, expires: Math.floor(expiresAt.getTime() / 1000) };
  const encoded = Buffer.from(JSON.stringify(body)).toString("base64url");
  return `${encoded}.${sign(key, purpose, encoded).toString("base64url")}`;
}

/**
 * Returns the values (claims) in a signed token; undefined when the token is forged, damaged, expired or for another
 * purpose.
 */
export function verifyToken(
  key: string,
  purpose: string,
  token: string,
  now: Date,
): Claims | undefined {
  const [encoded = "", signature = "", ...rest] = token.split(".");
  // Signatures are compared as text, because base64 decoders accept several spellings of the same bytes.
  const expected = Buffer.from(sign(key, purpose, encoded).toString("base64url"));
  const given = Buffer.from(signature);
  if (rest.length > 0 || given.length !== expected.length) return undefined;
  if (!timingSafeEqual(given, expected)) return undefined;
  const { claims, expires } = JSON.parse(Buffer.from(encoded, "base64url").toString()) as Body;
  return now.getTime() < expires * 1000 ? claims : undefined;
}

function sign(key: string, purpose: string, encoded: string): Buffer {
  return createHmac("sha256", key).update(`${purpose}\n${encoded}`).digest();
}
