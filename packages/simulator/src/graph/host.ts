import { refuseGraph } from "#src/graph/errors.ts";
import type { SentPrivateReply } from "#src/platform.ts";
import type { Pieces } from "#src/store/pieces.ts";
import type { Store, Table } from "#src/store/store.ts";
import { DAY_MS } from "#src/world/limits.ts";
import type { Comment } from "#src/world/reactions.ts";
import { receive, type ReceivedMedia } from "#src/world/received-media.ts";
import type { Secrets, World } from "#src/world/world.ts";

const TOKEN_CHARACTERS = 120;

/**
 * The host of Instagram Login accepts tokens of this login and no others, and they work only there.
 */
type TokenKind = "user" | "page" | "instagram";

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

type TokenCheck =
  | { readonly kind: "valid"; readonly token: GraphToken }
  | { readonly kind: "refused"; readonly subcode: number };

const INVALID = 467;
const EXPIRED = 463;

/** Like accounts, tokens survive a reset of the simulator. */
class GraphTokens {
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

const WINDOW_MS = 7 * DAY_MS;

interface PrivateReply extends SentPrivateReply {
  readonly account: string;
}

/** The private replies of a Graph API platform: one per comment, within 7 days of the comment. */
class PrivateReplies {
  readonly #rows: Table<PrivateReply>;

  constructor(store: Store, platform: string) {
    this.#rows = store.table<PrivateReply>(`${platform}.private_replies`);
  }

  hasAt(commentId: string, instant: number): boolean {
    const reply = this.#rows.get(commentId);
    return reply !== undefined && reply.sentAt <= instant;
  }

  sentBy(account: string): readonly SentPrivateReply[] {
    return this.#rows
      .values()
      .filter((reply) => reply.account === account)
      .map(({ commentId, text, sentAt }) => ({ commentId, text, sentAt }))
      .toArray();
  }

  acceptsAt({ id, createdAt }: Comment, instant: number): boolean {
    return !this.hasAt(id, instant) && instant - createdAt <= WINDOW_MS;
  }

  /**
   * A late private reply gets the code for messages outside of the messaging window, because Meta
   * documents no other.
   */
  send(comment: Comment, text: string, now: number): void {
    if (this.hasAt(comment.id, now))
      refuseGraph({ code: 10_900, subcode: 2_534_014, message: "Activity already replied to" });
    if (!this.acceptsAt(comment, now)) {
      const message = "This message is sent outside of allowed window.";
      refuseGraph({ code: 10, subcode: 2_534_022, message });
    }
    const { id: commentId, account } = comment;
    this.#rows.put(commentId, { commentId, account, text, sentAt: now });
  }
}

export interface Upload {
  readonly id: string;
  readonly owner: string;
  readonly pieces: readonly number[];
  readonly completedAt: number | null;
  /** Null while bytes are missing, and when the file is neither an image nor a video. */
  readonly received: ReceivedMedia | null;
}

export function receivedBytes({ pieces }: Upload): number {
  return pieces.reduce((sum, bytes) => sum + bytes, 0);
}

export class Uploads {
  readonly #rows: Table<Upload>;
  readonly #pieces: Pieces;
  readonly #platform: string;

  constructor({ store, pieces }: World, platform: string) {
    this.#rows = store.table<Upload>(`${platform}.uploads`);
    this.#pieces = pieces;
    this.#platform = platform;
  }

  begin(id: string, owner: string): Upload {
    const upload: Upload = { id, owner, pieces: [], completedAt: null, received: null };
    this.#rows.put(id, upload);
    return upload;
  }

  find(id: string): Upload | undefined {
    return this.#rows.get(id);
  }

  append(upload: Upload, bytes: Buffer): Upload {
    this.#pieces.put(this.#nameOf(upload, upload.pieces.length), bytes);
    const next = { ...upload, pieces: [...upload.pieces, bytes.length] };
    this.#rows.put(upload.id, next);
    return next;
  }

  complete(upload: Upload, now: number): Upload {
    const names = upload.pieces.map((_bytes, index) => this.#nameOf(upload, index));
    const received = receive(this.#pieces.read(names)) ?? null;
    this.#pieces.drop(names);
    const done = { ...upload, completedAt: now, received };
    this.#rows.put(upload.id, done);
    return done;
  }

  #nameOf({ id }: Upload, index: number): string {
    return `${this.#platform}-${id}-${index}`;
  }
}

/** What both platforms of the Graph API have. */
export type GraphHost = ReturnType<typeof createHost>;

export function createHost(world: World, platform: "facebook" | "instagram") {
  const { store, secrets } = world;
  return {
    platform,
    world,
    tokens: new GraphTokens(store, secrets, platform),
    uploads: new Uploads(world, platform),
    /** Whether a comment is hidden, by its id. */
    hidden: store.table<boolean>(`${platform}.hidden`),
    privateReplies: new PrivateReplies(store, platform),
  };
}
