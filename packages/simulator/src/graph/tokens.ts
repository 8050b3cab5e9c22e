import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Secrets } from "#src/world/secrets.ts";

const TOKEN_CHARACTERS = 120;

/** `instagram` = of an account that logged in with Instagram itself: it works on that host only, and no other one there. */
export type TokenKind = "user" | "page" | "instagram";

/** A token as it is kept. */
export interface GraphToken {
  readonly kind: TokenKind;
  /** External id of the account that it acts for; of the first account that a user manages for a user's. */
  readonly account: string;
  /** The person who granted it: removing the app takes all of a person's tokens away. */
  readonly user: string;
  readonly scopes: readonly string[];
  readonly issuedAt: number;
  /** Platform time; null = it does not end by time. */
  readonly expiresAt: number | null;
  /** The subcode that it is refused with; null while it works. */
  readonly deadBecause: number | null;
}

/** Whether a token works now, or why not. */
export type TokenCheck =
  | { readonly kind: "valid"; readonly token: GraphToken }
  | { readonly kind: "refused"; readonly subcode: number };

const INVALID = 467;
const EXPIRED = 463;

/** The tokens of a platform that speaks the Graph API. They survive a reset, as accounts do. */
export class GraphTokens {
  readonly #rows: Table<GraphToken>;
  readonly #secrets: Secrets;

  constructor(store: Store, secrets: Secrets, platform: string) {
    this.#rows = store.table<GraphToken>(`${platform}.tokens`, { keptOnReset: true });
    this.#secrets = secrets;
  }

  issue(token: Omit<GraphToken, "deadBecause">): string {
    // How they begin on graph.instagram.com and on graph.facebook.com.
    const prefix = token.kind === "instagram" ? "IGAA" : "EAA";
    const text = this.#secrets.issue(`${prefix}${this.#secrets.issueToken(TOKEN_CHARACTERS)}`);
    this.#rows.put(text, { ...token, deadBecause: null });
    return text;
  }

  check(text: string, now: number): TokenCheck {
    const token = this.#rows.get(text);
    if (token === undefined) {
      return { kind: "refused", subcode: INVALID };
    }
    if (token.deadBecause !== null) {
      return { kind: "refused", subcode: token.deadBecause };
    }
    return token.expiresAt !== null && now >= token.expiresAt
      ? { kind: "refused", subcode: EXPIRED }
      : { kind: "valid", token };
  }

  /** Whatever became of it. */
  find(text: string): GraphToken | undefined {
    return this.#rows.get(text);
  }

  /** Takes away every token of a person: a changed password (460), a removed app (458). */
  end(user: string, subcode: number): void {
    for (const [text, token] of this.#rows.entries()) {
      if (token.user === user && token.deadBecause === null) {
        this.#rows.put(text, { ...token, deadBecause: subcode });
      }
    }
  }
}
