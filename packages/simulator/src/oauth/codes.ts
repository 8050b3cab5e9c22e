import { createHash } from "node:crypto";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Secrets } from "#src/world/secrets.ts";

const CODE_CHARACTERS = 64;

/** An OAuth authorization request that a user approved. */
export interface Approval {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** Scopes that the app asked for and the user declined. */
  readonly declined: readonly string[];
  /**
   * The PKCE code challenge, which is the base64url SHA-256 of the verifier; null when the app sent
   * no code challenge.
   */
  readonly codeChallenge: string | null;
  /** External ids of the accounts to which the user gave the app access. */
  readonly accounts: readonly string[];
}

interface Code extends Approval {
  /** When the authorization code expires, in Unix milliseconds of the simulator's clock. */
  readonly expiresAt: number;
  readonly used: boolean;
}

/** What an app sends to exchange an OAuth authorization code for a token. */
export interface Redemption {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

/**
 * OAuth authorization codes. An app can exchange each code once, and must send the client id,
 * redirect URI and verifier of its authorization request.
 */
export class AuthorizationCodes {
  readonly #rows: Table<Code>;
  readonly #secrets: Secrets;
  readonly #lifetimeMs: number;

  constructor(store: Store, secrets: Secrets, platform: string, lifetimeMs: number) {
    this.#rows = store.table<Code>(`${platform}.codes`);
    this.#secrets = secrets;
    this.#lifetimeMs = lifetimeMs;
  }

  issue(approval: Approval, now: number): string {
    const code = this.#secrets.issueToken(CODE_CHARACTERS);
    this.#rows.put(code, { ...approval, expiresAt: now + this.#lifetimeMs, used: false });
    return code;
  }

  /**
   * Exchanges an authorization code for the approval of the user. An invalid exchange returns
   * undefined, and also makes the code unusable.
   */
  redeem(redemption: Redemption, now: number): Approval | undefined {
    const code = this.#rows.get(redemption.code);
    if (code === undefined || code.used) return undefined;

    this.#rows.put(redemption.code, { ...code, used: true });
    return now < code.expiresAt && matchesRedemption(code, redemption) ? code : undefined;
  }
}

function matchesRedemption(
  code: Code,
  { clientId, redirectUri, codeVerifier }: Redemption,
): boolean {
  const challenge = createHash("sha256").update(codeVerifier).digest("base64url");
  const isVerified =
    code.codeChallenge === null ? codeVerifier === "" : code.codeChallenge === challenge;
  return isVerified && code.clientId === clientId && code.redirectUri === redirectUri;
}
