import { SignJWT } from "jose/jwt/sign";
import { keyIdOf } from "./identity-keys.ts";
import type { OwnIdentity } from "./settings.ts";

/** A token that an attacker reads is useless after this time. */
const LIFETIME_MS = 5 * 60_000;
/** Until the new token is signed, calls use the old one. */
const RENEW_AFTER_MS = LIFETIME_MS / 2;

/** Carries the identity token. */
export const IDENTITY_HEADER = "x-identity";

/** Prove to one service who the process is. */
export type IdentityHeaders = Readonly<Record<string, string>>;

/** A promise only while there is no valid token. */
export type IdentitySource = () => IdentityHeaders | Promise<IdentityHeaders>;

interface Signed {
  readonly headers: IdentityHeaders;
  readonly signedAt: number;
}

/**
 * One signature for 2.5 minutes. `audience`: the called service. `now`: milliseconds since 1970.
 */
export function createIdentitySource(
  identity: OwnIdentity,
  audience: string,
  now: () => number = Date.now,
): IdentitySource {
  let current: Signed | undefined;
  let signing: Promise<IdentityHeaders> | undefined;

  const renew = async (): Promise<IdentityHeaders> => {
    try {
      const signedAt = now();
      const headers = await signHeaders(identity, audience, signedAt);
      current = { headers, signedAt };
      return headers;
    } finally {
      signing = undefined;
    }
  };

  return () => {
    const ageMs = current === undefined ? Number.POSITIVE_INFINITY : now() - current.signedAt;
    if (current !== undefined && ageMs >= 0 && ageMs < RENEW_AFTER_MS) return current.headers;
    signing ??= renew();
    // Negative: the clock was set back after the token was signed.
    if (current === undefined || ageMs < 0 || ageMs >= LIFETIME_MS) return signing;
    // The old token is still valid; the failure reaches callers once it has expired.
    signing.catch(() => undefined);
    return current.headers;
  };
}

async function signHeaders(
  { name, keys: [{ key, publicKey }] }: OwnIdentity,
  audience: string,
  signedAt: number,
): Promise<IdentityHeaders> {
  const token = await new SignJWT()
    .setProtectedHeader({ alg: "EdDSA", kid: keyIdOf(publicKey) })
    .setIssuer(name)
    .setAudience(audience)
    .setIssuedAt(Math.floor(signedAt / 1000))
    .setExpirationTime(Math.floor((signedAt + LIFETIME_MS) / 1000))
    .sign(key);
  return { [IDENTITY_HEADER]: token };
}
