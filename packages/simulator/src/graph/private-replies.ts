import type { GraphCall } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseParameter } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import { isRecord } from "#src/http/call.ts";
import type { SentPrivateReply } from "#src/platform.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Comment } from "#src/world/reactions.ts";

const WINDOW_MS = 7 * 86_400_000;
const MAX_TEXT_BYTES = 1000;

interface PrivateReply extends SentPrivateReply {
  readonly account: string;
}

/** The private replies of a Graph API platform: one per comment, within 7 days of the comment. */
export class PrivateReplies {
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

export function privateReplyOf({ parameters }: GraphCall): {
  readonly commentId: string;
  readonly text: string;
} {
  parameters.checkNames(["recipient", "message", "messaging_type"]);
  const recipient = parameters.json("recipient");
  const message = parameters.json("message");
  const commentId = isRecord(recipient) ? recipient["comment_id"] : undefined;
  if (typeof commentId !== "string")
    return refuseParameter("Param recipient must have a comment_id");

  const text = isRecord(message) ? message["text"] : undefined;
  return typeof text === "string" && text !== "" && Buffer.byteLength(text) <= MAX_TEXT_BYTES
    ? { commentId, text }
    : refuseParameter("Param message must have a text of at most 1000 bytes");
}

export function requireRepliable(
  { platform, world }: GraphHost,
  { account }: GraphCall,
  commentId: string,
): Comment {
  const comment = world.reactions.comment(platform, commentId);
  if (comment?.account !== account.externalId || comment.author === account.username) {
    const message = "The comment is invalid for a private reply";
    return refuseGraph({ code: 100, subcode: 2_534_025, message });
  }
  return comment;
}
