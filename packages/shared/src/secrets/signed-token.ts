import { createHmac, timingSafeEqual } from "node:crypto";

/** Everyone who has the token can read them, so they must not contain secrets. */
export type Claims = Readonly<Record<string, string>>;

interface Body {
  readonly claims: Claims;
  /** In seconds since 1970. */
  readonly expires: number;
}

/** Safe in a URL. A token for one purpose is not valid for another. */
export function signToken(key: string, purpose: string, claims: Claims, expiresAt: Date): string {
  const body: Body = { claims, expires: Math.floor(expiresAt.getTime() / 1000) };
  const encoded = Buffer.from(JSON.stringify(body)).toString("base64url");
  return `${encoded}.${sign(key, purpose, encoded).toString("base64url")}`;
}

/** Undefined when the token is forged, damaged, expired or for another purpose. */
export function verifyToken(
  key: string,
  purpose: string,
  token: string,
  now: Date,
): Claims | undefined {
  const [encoded = "", signature = "", ...rest] = token.split(".");
  // Compared as text, because base64 decoders accept several spellings of the same bytes.
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
