import { Code, ConnectError } from "@connectrpc/connect";
import { jwtVerify } from "jose/jwt/verify";
import { BoundedMap } from "#src/limits/bounded-map.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import { keyIdOf } from "./identity-keys.ts";
import type { TrustConfig, TrustedKey } from "./settings.ts";
import { IDENTITY_HEADER } from "./token-source.ts";

/** The clocks of two processes may differ. */
const CLOCK_TOLERANCE_SECONDS = 60;
/** The oldest is forgotten first. Each calling process has two valid ones at a time. */
const MAX_TOKENS = 10_000;
/** So that a caller without a key cannot make a process hash long texts. */
const MAX_LENGTH = 1_000;

interface Verified {
  readonly caller: string;
  readonly expiresAt: number;
}

/** Returns the name of the signer; a promise only for a token that was not verified before. */
type TokenVerifier = (token: string) => string | Promise<string>;

function refuse(reason: string): ConnectError {
  return new ConnectError(
    `the caller's identity is not accepted (${reason}); compare its IDENTITY_KEYS with the TRUSTED_IDENTITIES of the called service, and the clocks of both`,
    Code.Unauthenticated,
  );
}

/** Verified once, then looked up. `audience`: this service. `now`: milliseconds since 1970. */
function createTokenVerifier(
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

/** Messages of `jose` name fields of the token and never contain the token. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export type CallerTable = Readonly<Record<string, readonly string[]>>;

export type ReadHeader = (name: string) => string | undefined;

/** Decides which process calls, and what it may call. */
export interface Access {
  authenticate(header: ReadHeader): string | Promise<string>;
  /** @throws ConnectError `permission_denied` */
  authorize(caller: string, allowed: readonly string[], what: string): void;
  callersOf(method: string): readonly string[];
}

export interface AccessOptions extends TrustConfig {
  readonly service: string;
  readonly callers: CallerTable;
  readonly logger: Logger;
  readonly now?: () => number;
}

/** Callers prove who they are with a signed token, and may call only the RPCs that list them. */
export function createAccess(options: AccessOptions): Access {
  const { service, callers, logger, trustedKeys } = options;
  const verify = createTokenVerifier(service, trustedKeys, options.now);
  return {
    authenticate: (header) => {
      const token = header(IDENTITY_HEADER);
      if (token === undefined) throw noToken();
      return verify(token);
    },
    authorize: (caller, allowed, what) => {
      if (allowed.includes(caller)) return;
      logger.warn(
        { caller, rpc: what },
        "an RPC was refused because the calling service has no reason to use it; check whether that service's private key was stolen",
      );
      throw new ConnectError(`${caller} may not call ${what}`, Code.PermissionDenied);
    },
    callersOf: (method) => callers[method] ?? [],
  };
}

/**
 * The server then closes the connection: this process's clock may be wrong, and the caller's next
 * connection reaches another as soon as the load balancer knows that this one is not ready.
 * Handlers never throw such an error.
 */
export function isIdentityRefused({ code }: ConnectError): boolean {
  return code === Code.Unauthenticated;
}

function noToken(): ConnectError {
  return new ConnectError(
    `the header ${IDENTITY_HEADER} is missing; only Postrider's services and its operator's tool may call this service`,
    Code.Unauthenticated,
  );
}
