import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Secrets } from "#src/world/secrets.ts";

const TOKEN_CHARACTERS = 120;

/**
 * The kind of a Graph API token. A token of Instagram Login (`instagram`) works only on the host of
 * Instagram Login, and this host accepts no other kind.
 */
export type TokenKind = "user" | "page" | "instagram";

export interface GraphToken {
  readonly kind: TokenKind;
  /**
   * External id of the account for which the Graph API token acts. For the token of a user: the
   * first account that the user selected.
   */
  readonly account: string;
  /**
   * Id of the user who granted the Graph API token. When this user removes the app, all tokens of
   * the user are revoked.
   */
  readonly user: string;
  readonly scopes: readonly string[];
  /** Permissions that the user declined when the token was granted. */
  readonly declined?: readonly string[];
  readonly issuedAt: number;
  /**
   * When the token expires, in Unix milliseconds of the simulator's clock; null = the token does
   * not expire.
   */
  readonly expiresAt: number | null;
  /** The Graph API error subcode of a revoked token; null while the token is not revoked. */
  readonly deadBecause: number | null;
}

/**
 * The result of checking a Graph API token: the valid token, or the error subcode that says why the
 * token is refused.
 */
export type TokenCheck =
  | { readonly kind: "valid"; readonly token: GraphToken }
  | { readonly kind: "refused"; readonly subcode: number };

const INVALID = 467;
const EXPIRED = 463;

/**
 * The access tokens of one Graph API platform. Like accounts, these tokens survive a reset of the
 * simulator.
 */
export class GraphTokens {
  readonly #rows: Table<GraphToken>;
  readonly #secrets: Secrets;

  constructor(store: Store, secrets: Secrets, platform: string) {
    this.#rows = store.table<GraphToken>(`${platform}.tokens`, { keptOnReset: true });
    this.#secrets = secrets;
  }

  issue(token: Omit<GraphToken, "deadBecause">): string {
    // Graph API tokens for graph.instagram.com begin with IGAA; tokens for graph.facebook.com begin
    // with EAA.
    const prefix = token.kind === "instagram" ? "IGAA" : "EAA";
    const text = this.#secrets.issue(`${prefix}${this.#secrets.issueToken(TOKEN_CHARACTERS)}`);
    this.#rows.put(text, { ...token, deadBecause: null });
    return text;
  }

  check(text: string, now: number): TokenCheck {
    const token = this.#rows.get(text);
    if (token === undefined) return { kind: "refused", subcode: INVALID };

    if (token.deadBecause !== null) return { kind: "refused", subcode: token.deadBecause };

    return token.expiresAt !== null && now >= token.expiresAt
      ? { kind: "refused", subcode: EXPIRED }
      : { kind: "valid", token };
  }

  /** The Graph API token with the given text, also when the token has expired or is revoked. */
  find(text: string): GraphToken | undefined {
    return this.#rows.get(text);
  }

  /**
   * Revokes every Graph API token of a user. The subcode says why: 458 = app removed, 460 =
   * password changed.
   */
  revokeAll(user: string, subcode: number): void {
    for (const [text, token] of this.#rows.entries())
      if (token.user === user && token.deadBecause === null)
        this.#rows.put(text, { ...token, deadBecause: subcode });
  }
}
