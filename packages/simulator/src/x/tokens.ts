import { randomUUID } from "node:crypto";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Secrets } from "#src/world/secrets.ts";

const ACCESS_LIFE_MS = 7_200_000;
const TOKEN_CHARACTERS = 91;

export const SCOPE =
  "tweet.write tweet.read users.read media.write tweet.moderate.write offline.access";

interface Token {
  readonly kind: "access" | "refresh";
  readonly account: string;
  /** Tokens that descend from one login; revoking one of them revokes all. */
  readonly grant: string;
  readonly expiresAt: number | null;
  /** False when it was rotated or revoked. */
  readonly valid: boolean;
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInSeconds: number;
}

/** OAuth 2.0 tokens: access tokens of two hours, refresh tokens that work once. */
export class Tokens {
  readonly #rows: Table<Token>;
  readonly #secrets: Secrets;

  constructor(store: Store, secrets: Secrets) {
    this.#rows = store.table<Token>("x.tokens", { keptOnReset: true });
    this.#secrets = secrets;
  }

  /** A pair for a new login. */
  issue(account: string, now: number): TokenPair {
    return this.#pair(account, randomUUID(), now);
  }

  /** The account's id while the access token lives. */
  accountOf(accessToken: string, now: number): string | undefined {
    const token = this.#rows.get(accessToken);
    return token?.kind === "access" && token.valid && now < (token.expiresAt ?? Infinity)
      ? token.account
      : undefined;
  }

  /** The account's id, whatever became of the token. */
  ownerOf(token: string): string | undefined {
    return this.#rows.get(token)?.account;
  }

  /** Swaps a refresh token for a pair; undefined if it is unknown, used or revoked. */
  refresh(refreshToken: string, now: number): TokenPair | undefined {
    const token = this.#rows.get(refreshToken);
    if (token?.kind !== "refresh" || !token.valid) {
      return undefined;
    }
    this.#rows.put(refreshToken, { ...token, valid: false });
    return this.#pair(token.account, token.grant, now);
  }

  /** Ends the whole login that the token belongs to. */
  revoke(token: string): void {
    const grant = this.#rows.get(token)?.grant;
    for (const [key, row] of this.#rows.entries()) {
      if (row.grant === grant && row.valid) {
        this.#rows.put(key, { ...row, valid: false });
      }
    }
  }

  #pair(account: string, grant: string, now: number): TokenPair {
    const accessToken = this.#secrets.issueToken(TOKEN_CHARACTERS);
    const refreshToken = this.#secrets.issueToken(TOKEN_CHARACTERS);
    const expiresAt = now + ACCESS_LIFE_MS;
    this.#rows.put(accessToken, { kind: "access", account, grant, expiresAt, valid: true });
    this.#rows.put(refreshToken, { kind: "refresh", account, grant, expiresAt: null, valid: true });
    return { accessToken, refreshToken, expiresInSeconds: ACCESS_LIFE_MS / 1000 };
  }
}
