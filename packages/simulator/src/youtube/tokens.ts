import { randomBytes } from "node:crypto";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Secrets } from "#src/world/secrets.ts";

const ACCESS_LIFETIME_MS = 3_600_000;
const TOKEN_BYTES = 75;

export const SCOPES = {
  upload: "https://www.googleapis.com/auth/youtube.upload",
  readonly: "https://www.googleapis.com/auth/youtube.readonly",
  forceSsl: "https://www.googleapis.com/auth/youtube.force-ssl",
  analytics: "https://www.googleapis.com/auth/yt-analytics.readonly",
} as const;

export const ALL_SCOPES: readonly string[] = Object.values(SCOPES);

interface Token {
  readonly kind: "access" | "refresh";
  readonly account: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  readonly valid: boolean;
}

export type Access = Pick<Token, "account" | "scopes">;

export interface AccessToken {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly string[];
}

export interface TokenPair extends AccessToken {
  readonly refreshToken: string;
}

export class Tokens {
  readonly #rows: Table<Token>;
  readonly #secrets: Secrets;

  constructor(store: Store, secrets: Secrets) {
    this.#rows = store.table<Token>("youtube.tokens", { keptOnReset: true });
    this.#secrets = secrets;
  }

  issue(account: string, scopes: readonly string[], now: number): TokenPair {
    const refreshToken = this.#secret("1//0");
    this.#rows.put(refreshToken, {
      kind: "refresh",
      account,
      scopes,
      expiresAt: null,
      valid: true,
    });
    return { ...this.#access({ account, scopes }, now), refreshToken };
  }

  accessOf(accessToken: string, now: number): Access | undefined {
    const token = this.#rows.get(accessToken);
    return token?.kind === "access" && token.valid && now < (token.expiresAt ?? Infinity)
      ? token
      : undefined;
  }

  ownerOf(token: string): string | undefined {
    return this.#rows.get(token)?.account;
  }

  refresh(refreshToken: string, now: number): AccessToken | undefined {
    const token = this.#rows.get(refreshToken);
    return token?.kind === "refresh" && token.valid ? this.#access(token, now) : undefined;
  }

  revoke(token: string): boolean {
    const row = this.#rows.get(token);
    if (row?.valid !== true) return false;

    for (const [key, other] of this.#rows.entries())
      if (other.account === row.account && other.valid)
        this.#rows.put(key, { ...other, valid: false });

    return true;
  }

  #access({ account, scopes }: Access, now: number): AccessToken {
    const accessToken = this.#secret("ya29.");
    const expiresAt = now + ACCESS_LIFETIME_MS;
    this.#rows.put(accessToken, { kind: "access", account, scopes, expiresAt, valid: true });
    return { accessToken, expiresInSeconds: ACCESS_LIFETIME_MS / 1000, scopes };
  }

  #secret(prefix: string): string {
    return this.#secrets.issue(`${prefix}${randomBytes(TOKEN_BYTES).toString("base64url")}`);
  }
}
