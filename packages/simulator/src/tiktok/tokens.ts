import { randomUUID } from "node:crypto";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Secrets } from "#src/world/secrets.ts";

const ACCESS_LIFETIME_MS = 7_200_000;
const REFRESH_LIFETIME_MS = 180 * 86_400_000;
const TOKEN_CHARACTERS = 64;

export const ALL_SCOPES: readonly string[] = [
  "user.info.basic",
  "user.info.profile",
  "user.info.stats",
  "video.list",
  "video.upload",
  "video.publish",
];

export interface TiktokToken {
  readonly kind: "access" | "refresh";
  readonly account: string;
  /** Revoking one token of an authorization revokes all of them. */
  readonly grant: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
  readonly valid: boolean;
}

export interface TokenPair {
  readonly account: string;
  readonly scopes: readonly string[];
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInSeconds: number;
  readonly refreshExpiresInSeconds: number;
}

export class Tokens {
  readonly #rows: Table<TiktokToken>;
  readonly #secrets: Secrets;

  constructor(store: Store, secrets: Secrets) {
    this.#rows = store.table<TiktokToken>("tiktok.tokens", { keptOnReset: true });
    this.#secrets = secrets;
  }

  issue(account: string, scopes: readonly string[], now: number): TokenPair {
    return this.#pair({ account, scopes, grant: randomUUID() }, now);
  }

  access(text: string, now: number): TiktokToken | undefined {
    return this.#findValid("access", text, now);
  }

  ownerOf(text: string): string | undefined {
    return this.#rows.get(text)?.account;
  }

  refresh(text: string, now: number): TokenPair | undefined {
    const token = this.#findValid("refresh", text, now);
    if (token === undefined) return undefined;

    this.#rows.put(text, { ...token, valid: false });
    return this.#pair(token, now);
  }

  revoke(text: string): boolean {
    const grant = this.#rows.get(text)?.grant;
    for (const [key, row] of this.#rows.entries())
      if (row.grant === grant && row.valid) this.#rows.put(key, { ...row, valid: false });

    return grant !== undefined;
  }

  #findValid(kind: TiktokToken["kind"], text: string, now: number): TiktokToken | undefined {
    const token = this.#rows.get(text);
    return token?.kind === kind && token.valid && now < token.expiresAt ? token : undefined;
  }

  #pair(
    { account, scopes, grant }: Pick<TiktokToken, "account" | "scopes" | "grant">,
    now: number,
  ): TokenPair {
    const accessToken = this.#secrets.issue(`act.${this.#secrets.issueToken(TOKEN_CHARACTERS)}`);
    const refreshToken = this.#secrets.issue(`rft.${this.#secrets.issueToken(TOKEN_CHARACTERS)}`);
    const shared = { account, scopes, grant, valid: true };
    const refreshExpiresAt = now + REFRESH_LIFETIME_MS;
    this.#rows.put(accessToken, { ...shared, kind: "access", expiresAt: now + ACCESS_LIFETIME_MS });
    this.#rows.put(refreshToken, { ...shared, kind: "refresh", expiresAt: refreshExpiresAt });
    return {
      account,
      scopes,
      accessToken,
      refreshToken,
      expiresInSeconds: ACCESS_LIFETIME_MS / 1000,
      refreshExpiresInSeconds: REFRESH_LIFETIME_MS / 1000,
    };
  }
}
