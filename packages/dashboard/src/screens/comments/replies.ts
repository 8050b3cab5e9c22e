import { isKeySpent, isUnanswered } from "../../api/sending.ts";

/**
 * A reply while it is written. `key` is its `Idempotency-Key`: a second press, a reload and a lost
 * answer make one reply. While the answer of a request is missing the text must not change, because
 * the key stands for what was sent; so `isAsked` locks it.
 */
export interface Reply {
  readonly text: string;
  readonly key: string;
  /** A request was sent, and no answer says whether it was accepted. */
  readonly isAsked: boolean;
  /** When it was first sent, in ms since 1970. */
  readonly askedAt?: number | undefined;
  /** The reply before it, which was accepted. */
  readonly actionId?: string | undefined;
}

/** The answer is missing for so long that the same request could make a second reply. */
export function isOutdated({ isAsked, askedAt }: Reply, now = Date.now()): boolean {
  return isAsked && isKeySpent(askedAt, now);
}

/** The reply as it is sent: with its key, or with a new one when that no longer protects it. */
export function asked(reply: Reply, newKey: string, now = Date.now()): Reply {
  if (reply.isAsked && !isOutdated(reply, now)) return reply;
  return { ...reply, key: reply.isAsked ? newKey : reply.key, isAsked: true, askedAt: now };
}

/** The reply after its request failed: as it was sent while nothing says what became of it. */
export function failed(before: Reply, sent: Reply, error: unknown, newKey: string): Reply {
  if (isUnanswered(error, sent === before)) return sent;
  return { ...sent, key: newKey, isAsked: false };
}

/** Replies by our id of the comment, the one that was changed last at the end. */
export type Replies = Readonly<Record<string, Reply>>;

/** A browser that answers for years must not keep every reply. */
const MAX_KEPT = 200;

export function replyTo(replies: Replies, id: string, key: string): Reply {
  return replies[id] ?? { text: "", key, isAsked: false };
}

export function withReply(replies: Replies, id: string, reply: Reply): Replies {
  const { [id]: _before, ...others } = replies;
  const isEmpty = reply.text === "" && !reply.isAsked && reply.actionId === undefined;
  const kept = isEmpty ? others : { ...others, [id]: reply };
  const entries = Object.entries(kept);
  // What was accepted may be forgotten; what was written may not.
  const spare = entries.length - MAX_KEPT;
  const old = new Set(
    entries
      .filter(([, { text }]) => text === "")
      .slice(0, Math.max(0, spare))
      .map(([name]) => name),
  );
  return Object.fromEntries(entries.filter(([name]) => !old.has(name)));
}

/** Nothing for what another version of the page wrote. */
export function parseReplies(text: string | null): Replies {
  if (text === null) return {};
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read !== "object" || read === null) return {};
    return Object.fromEntries(Object.entries(read).filter(([, reply]) => isReply(reply)));
  } catch {
    return {};
  }
}

function isReply(reply: unknown): reply is Reply {
  const given = reply as Partial<Reply> | null;
  return typeof given?.text === "string" && typeof given.key === "string";
}
