import { createHash } from "node:crypto";
import type { Store, Table } from "#src/store/store.ts";
import type { Secrets } from "#src/world/world.ts";

const CODE_CHARACTERS = 64;

export interface Approval {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly declined: readonly string[];
  /** base64url of the verifier's SHA-256; null when the app sent no code challenge. */
  readonly codeChallenge: string | null;
  readonly accounts: readonly string[];
}

interface Code extends Approval {
  readonly expiresAt: number;
  readonly used: boolean;
}

export interface Redemption {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

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

  /** Redeems the code in the form of a token call. */
  redeemForm(form: URLSearchParams, clientId: string, now: number): Approval | undefined {
    const text = (name: string): string => form.get(name) ?? "";
    const redemption = {
      code: text("code"),
      clientId,
      redirectUri: text("redirect_uri"),
      codeVerifier: text("code_verifier"),
    };
    return this.redeem(redemption, now);
  }

  /** An invalid exchange also makes the code unusable. */
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
