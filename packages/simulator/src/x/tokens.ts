import { randomUUID } from "node:crypto";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Secrets } from "#src/world/secrets.ts";

const ACCESS_LIFETIME_MS = 7_200_000;
const TOKEN_CHARACTERS = 91;

export const SCOPES: readonly string[] = [
  "tweet.write",
  "tweet.read",
  "users.read",
  "media.write",
  "tweet.moderate.write",
  "offline.access",
];

interface Token {
  readonly kind: "access" | "refresh";
  readonly account: string;
  readonly grant: string;
  readonly scopes?: readonly string[];
  readonly expiresAt: number | null;
  readonly valid: boolean;
}

export type Access = Required<Pick<Token, "account" | "scopes">>;

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly string[];
}

function toAccess({ account, scopes = SCOPES }: Token): Access {
  return { account, scopes };
}

export class Tokens {
  readonly #rows: Table<Token>;
  readonly #secrets: Secrets;

  constructor(store: Store, secrets: Secrets) {
    this.#rows = store.table<Token>("x.tokens", { keptOnReset: true });
    this.#secrets = secrets;
  }

  issue(access: Access, now: number): TokenPair {
    return this.#pair(access, randomUUID(), now);
  }

  accessOf(accessToken: string, now: number): Access | undefined {
    const token = this.#rows.get(accessToken);
    return token?.kind === "access" && token.valid && now < (token.expiresAt ?? Infinity)
      ? toAccess(token)
      : undefined;
  }

  ownerOf(token: string): string | undefined {
    return this.#rows.get(token)?.account;
  }

  refresh(refreshToken: string, now: number): TokenPair | undefined {
    const token = this.#rows.get(refreshToken);
    if (token?.kind !== "refresh" || !token.valid) return undefined;

    this.#rows.put(refreshToken, { ...token, valid: false });
    return this.#pair(toAccess(token), token.grant, now);
  }

  revoke(token: string): void {
    const grant = this.#rows.get(token)?.grant;
    for (const [key, row] of this.#rows.entries())
      if (row.grant === grant && row.valid) this.#rows.put(key, { ...row, valid: false });
  }

  #pair({ account, scopes }: Access, grant: string, now: number): TokenPair {
    const accessToken = this.#secrets.issueToken(TOKEN_CHARACTERS);
    const refreshToken = this.#secrets.issueToken(TOKEN_CHARACTERS);
    const expiresAt = now + ACCESS_LIFETIME_MS;
    const row = { account, grant, scopes, valid: true };
    this.#rows.put(accessToken, { kind: "access", ...row, expiresAt });
    this.#rows.put(refreshToken, { kind: "refresh", ...row, expiresAt: null });
    return { accessToken, refreshToken, expiresInSeconds: ACCESS_LIFETIME_MS / 1000, scopes };
  }
}
