import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Secrets } from "#src/world/secrets.ts";

const TOKEN_CHARACTERS = 120;

/**
 * The host of Instagram Login accepts tokens of this login and no others, and they work only there.
 */
export type TokenKind = "user" | "page" | "instagram";

export interface GraphToken {
  readonly kind: TokenKind;
  /** For the token of a user: the first account that the user selected. */
  readonly account: string;
  /** When this user removes the app, all tokens of the user are revoked. */
  readonly user: string;
  readonly scopes: readonly string[];
  readonly declined?: readonly string[];
  readonly issuedAt: number;
  readonly expiresAt: number | null;
  readonly deadBecause: number | null;
}

export type TokenCheck =
  | { readonly kind: "valid"; readonly token: GraphToken }
  | { readonly kind: "refused"; readonly subcode: number };

const INVALID = 467;
const EXPIRED = 463;

/** Like accounts, tokens survive a reset of the simulator. */
export class GraphTokens {
  readonly #rows: Table<GraphToken>;
  readonly #secrets: Secrets;

  constructor(store: Store, secrets: Secrets, platform: string) {
    this.#rows = store.table<GraphToken>(`${platform}.tokens`, { keptOnReset: true });
    this.#secrets = secrets;
  }

  issue(token: Omit<GraphToken, "deadBecause">): string {
    // As on the real hosts.
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

  find(text: string): GraphToken | undefined {
    return this.#rows.get(text);
  }

  revokeAll(user: string, subcode: number): void {
    for (const [text, token] of this.#rows.entries())
      if (token.user === user && token.deadBecause === null)
        this.#rows.put(text, { ...token, deadBecause: subcode });
  }
}
