import { createHash } from "node:crypto";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Secrets } from "#src/world/secrets.ts";

const CODE_CHARACTERS = 64;

/** What a person approved. */
export interface Approval {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** S256 of the verifier; null where the app sent none. */
  readonly codeChallenge: string | null;
  /** External ids of the accounts that the person chose. */
  readonly accounts: readonly string[];
}

interface Code extends Approval {
  /** Platform time. */
  readonly expiresAt: number;
  readonly used: boolean;
}

/** What an app shows to spend a code. */
export interface Redemption {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

/** Authorization codes: each works once, for the app, the address and the verifier that it was asked for with. */
export class AuthorizationCodes {
  readonly #rows: Table<Code>;
  readonly #secrets: Secrets;
  readonly #lifeMs: number;

  constructor(store: Store, secrets: Secrets, platform: string, lifeMs: number) {
    this.#rows = store.table<Code>(`${platform}.codes`);
    this.#secrets = secrets;
    this.#lifeMs = lifeMs;
  }

  issue(approval: Approval, now: number): string {
    const code = this.#secrets.issueToken(CODE_CHARACTERS);
    this.#rows.put(code, { ...approval, expiresAt: now + this.#lifeMs, used: false });
    return code;
  }

  /** Spends the code, also when something about it is wrong; undefined then. */
  redeem(redemption: Redemption, now: number): Approval | undefined {
    const code = this.#rows.get(redemption.code);
    if (code === undefined || code.used) {
      return undefined;
    }
    this.#rows.put(redemption.code, { ...code, used: true });
    return now < code.expiresAt && isMeant(code, redemption) ? code : undefined;
  }
}

function isMeant(code: Code, { clientId, redirectUri, codeVerifier }: Redemption): boolean {
  const challenge = createHash("sha256").update(codeVerifier).digest("base64url");
  const isProved =
    code.codeChallenge === null ? codeVerifier === "" : code.codeChallenge === challenge;
  return isProved && code.clientId === clientId && code.redirectUri === redirectUri;
}
