import { Code, ConnectError } from "@connectrpc/connect";
import { jwtVerify } from "jose/jwt/verify";
import { BoundedMap } from "#src/limits/bounded-map.ts";
import { keyIdOf } from "./identity-keys.ts";
import type { TrustedKey } from "./settings.ts";

/**
 * How long after its expiry an identity token is still accepted, in seconds, because the clocks of two processes may differ.
 */
const CLOCK_TOLERANCE_SECONDS = 60;
/**
 * Maximum number of identity tokens that are remembered as verified; the token that was verified first is forgotten
 * first. Each calling process has two valid tokens at a time.
 */
const MAX_TOKENS = 10_000;
/**
 * Maximum length of an identity token in characters. A longer one is refused, so that a caller without a key cannot
 * make a process hash long texts.
 */
const MAX_LENGTH = 1_000;

interface Verified {
  readonly caller: string;
  readonly expiresAt: number;
}

/**
 * Returns the name of the process that signed an identity token. The result is a promise only if the token was not
 * verified before.
 */
export type TokenVerifier = (token: string) => string | Promise<string>;

function refuse(reason: string): ConnectError {
  return new ConnectError(
    `the caller's identity is not accepted (${reason}); compare its IDENTITY_KEYS with the TRUSTED_IDENTITIES of the called service, and the clocks of both`,
    Code.Unauthenticated,
  );
}

/**
 * Creates the check of identity tokens. A token is verified once; later calls with the same token only look it up in a
 * map.
 *
 * @param audience Name of this service: tokens for another service are refused.
 * @param now The wall clock in milliseconds since 1970.
 */
export function createTokenVerifier(
  audience: string,
  trusted: readonly TrustedKey[],
  now: () => number = Date.now,
): TokenVerifier {
  const known = new BoundedMap<string, Verified>(MAX_TOKENS);

  const verify = async (token: string): Promise<string> => {
    if (token.length > MAX_LENGTH) throw refuse("the token is too long");
    let signer: TrustedKey | undefined;
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        signer = trusted.find(({ publicKey }) => keyIdOf(publicKey) === kid);
        if (signer === undefined) throw refuse("no trusted key has the key id of the token");
        return signer.key;
      },
      {
        algorithms: ["EdDSA"],
        audience,
        requiredClaims: ["exp"],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(now()),
      },
    );
    const caller = signer?.name ?? "";
    if (payload.iss !== caller) throw refuse("the issuer does not own the key of the token");
    const expiresAt = ((payload.exp ?? 0) + CLOCK_TOLERANCE_SECONDS) * 1000;
    known.set(token, { caller, expiresAt });
    return caller;
  };

  return (token) => {
    const found = known.get(token);
    if (found !== undefined && now() < found.expiresAt) return found.caller;
    known.delete(token);
    return verify(token).catch((error: unknown) => {
      throw error instanceof ConnectError ? error : refuse(reasonOf(error));
    });
  };
}

/**
 * Returns why the library `jose` refused a token. The messages of `jose` name fields of the token and never contain the
 * token.
 */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
