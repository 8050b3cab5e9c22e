import { createHmac, timingSafeEqual } from "node:crypto";

/** What a token says. Names and values are ours and readable by whoever has the token: no secrets. */
export type Claims = Readonly<Record<string, string>>;

interface Body {
  readonly claims: Claims;
  /** Seconds since 1970. */
  readonly expires: number;
}

/**
 * Makes a token that says `claims` until `expiresAt`: safe in a path, shared between processes that hold the same key.
 *
 * @param purpose Keeps tokens of one kind from being taken for another's under the same key.
 */
export function signToken(key: string, purpose: string, claims: Claims, expiresAt: Date): string {
  const body: Body = { claims, expires: Math.floor(expiresAt.getTime() / 1000) };
  const encoded = Buffer.from(JSON.stringify(body)).toString("base64url");
  return `${encoded}.${sign(key, purpose, encoded).toString("base64url")}`;
}

/** What the token says; undefined when it is forged, damaged, of another purpose or expired. */
export function verifyToken(
  key: string,
  purpose: string,
  token: string,
  now: Date,
): Claims | undefined {
  const [encoded = "", signature = "", ...rest] = token.split(".");
  // As text: base64 readers forgive other spellings of the same bytes.
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
