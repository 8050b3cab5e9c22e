import { askBluesky, COLLECTION, isOwnersHost } from "#src/bluesky/publishing/xrpc.ts";
import type { Missing, PlatformComment } from "#src/comments/connector.ts";
import { count, type JsonObject, object, text, time } from "#src/http/platform-answer.ts";
import { type AnswerBytes, readMembers } from "#src/http/read-members.ts";
import type { Caller } from "#src/publishing/caller.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export interface StrongRef {
  readonly uri: string;
  readonly cid: string;
}

export interface ThreadReply {
  readonly ref: StrongRef;
  readonly comment: Omit<PlatformComment, "hidden">;
}

export interface Thread {
  readonly kind: "thread";
  readonly post: StrongRef;
  readonly root: StrongRef;
  readonly replies: readonly ThreadReply[];
  /** Bluesky's answer may have more than Postrider reads. */
  readonly isComplete: boolean;
}

export function missingIn({ isComplete }: Thread): Missing | Failure {
  if (isComplete) return { kind: "missing" };
  return platformUnavailable("the post has more replies than Postrider reads");
}

/**
 * Limits of the answer with a thread. Bluesky answers with all direct replies at once, without a
 * limit or pages (github.com/bluesky-social/atproto,
 * packages/bsky/src/data-plane/server/routes/threads.ts, read 2026-11-28), and the record of a
 * reply may have 1 MB, which the answer contains twice if it is in a link card. Strangers could
 * therefore make an answer of any size, so its replies are read one by one, and only the first
 * ones, which are the newest.
 */
const THREAD_LIMITS = {
  maxBytes: 64 * 1024 * 1024,
  maxMemberBytes: 4 * 1024 * 1024,
  maxMembers: 20_000,
};
/**
 * Limits of an answer from a server that the account's owner runs. It can make all of its answers
 * large and costly to parse, so fewer of the newest replies are read, and none with a large link
 * card.
 */
const OWNERS_LIMITS = {
  maxBytes: 4 * 1024 * 1024,
  maxMemberBytes: 128 * 1024,
  maxMembers: 20_000,
};
const RECORD_KEY = /^(?!\.{1,2}$)[A-Za-z0-9._:~-]{1,512}$/;

/**
 * Maximum lengths of what a reply consists of, in UTF-16 units. Bluesky has no longer ones; the
 * thread is read from the server of the account, which may be its owner's and answer with anything.
 */
const MAX_URI = 1024;
const MAX_CID = 256;
const MAX_TEXT = 3000;
const MAX_DID = 512;
const MAX_HANDLE = 256;

export function recordKeyOf(uri: string): string {
  return uri.split("/").at(-1) ?? "";
}

function toRef(value: unknown): StrongRef | undefined {
  const uri = text(value, "uri");
  const cid = text(value, "cid");
  if (uri === undefined || cid === undefined) return undefined;
  return uri.length <= MAX_URI && cid.length <= MAX_CID ? { uri, cid } : undefined;
}

/** A longer text is left out, because a part of it would name another account. */
function short(value: unknown, name: string, max: number): string | null {
  const found = text(value, name);
  return found === undefined || found.length > max ? null : found;
}

/**
 * Returns the time of a reply as Bluesky itself sorts by it: the author's time, but not later than
 * the time at which Bluesky saw the reply, because authors choose their time freely.
 */
function timeOf(post: JsonObject): Date | undefined {
  const times = [time(object(post, "record"), "createdAt"), time(post, "indexedAt")];
  const known = times.flatMap((each) => each?.getTime() ?? []);
  return known.length === 0 ? undefined : new Date(Math.min(...known));
}

function toReply(member: unknown, account: AccountAccess): ThreadReply | undefined {
  const post = object(member, "post");
  const ref = toRef(post);
  const createdAt = post === undefined ? undefined : timeOf(post);
  if (post === undefined || ref === undefined || createdAt === undefined) return undefined;
  if (!RECORD_KEY.test(recordKeyOf(ref.uri))) return undefined;
  const author = object(post, "author");
  const comment = {
    id: recordKeyOf(ref.uri),
    text: (text(object(post, "record"), "text") ?? "").slice(0, MAX_TEXT).toWellFormed(),
    authorId: short(author, "did", MAX_DID),
    authorUsername: short(author, "handle", MAX_HANDLE),
    isOwn: text(author, "did") === account.externalId,
    createdAt,
    likeCount: count(post, "likeCount"),
    replyCount: count(post, "replyCount"),
  };
  return { ref, comment };
}

/**
 * Returns the position of a reply in the list of replies to a post: a text that sorts newer replies
 * higher. The position of the last reply on a page is the cursor of the next page.
 */
export function positionOf({ createdAt, id }: ThreadReply["comment"]): string {
  return `${String(Math.max(0, createdAt.getTime())).padStart(15, "0")}_${id}`;
}

/**
 * Sorts replies, newest first, and keeps one reply per record key, because Postrider identifies a
 * comment by its record key alone. Record keys contain microseconds and are unique unless an author
 * copies one. The reply that Bluesky saw first stays, so that a copy never takes the place of the
 * original.
 */
function toList(found: readonly FoundReply[]): readonly ThreadReply[] {
  const oldestFirst = found.toSorted((one, other) => one.seenAt.localeCompare(other.seenAt));
  const byKey = new Map<string, ThreadReply>();
  for (const { reply } of oldestFirst)
    if (!byKey.has(reply.comment.id)) byKey.set(reply.comment.id, reply);
  return [...byKey.values()].toSorted((one, other) =>
    positionOf(one.comment) < positionOf(other.comment) ? 1 : -1,
  );
}

interface FoundReply {
  readonly reply: ThreadReply;
  readonly seenAt: string;
}

class ReplyReader {
  readonly found: FoundReply[] = [];
  isComplete = true;
  readonly #account: AccountAccess;

  constructor(account: AccountAccess) {
    this.#account = account;
  }

  readonly readBody = async (body: AnswerBytes): Promise<string> => {
    const onMember = (member: unknown): void => {
      const reply = toReply(member, this.#account);
      const seenAt = text(object(member, "post"), "indexedAt") ?? "";
      if (reply !== undefined) this.found.push({ reply, seenAt });
    };
    const place = { object: "thread", list: "replies" };
    const limits = isOwnersHost(this.#account) ? OWNERS_LIMITS : THREAD_LIMITS;
    const answer = await readMembers(body, { ...place, ...limits, onMember });
    this.isComplete = answer.isComplete;
    return answer.text;
  };
}

/**
 * Reads a post of the account with its direct replies. The post's address names the account's own
 * repository, so a post of another account is never found.
 */
export async function readThread(
  bluesky: Caller,
  mediaId: string,
): Promise<Thread | Missing | Failure> {
  const { account } = bluesky;
  if (!RECORD_KEY.test(mediaId)) return { kind: "missing" };
  const uri = `at://${account.externalId}/${COLLECTION}/${mediaId}`;
  const query = { uri, depth: "1", parentHeight: "0" };
  const path = "app.bsky.feed.getPostThread";
  const replies = new ReplyReader(account);
  const answer = await askBluesky(bluesky, { path, query, readBody: replies.readBody });
  if (answer.kind === "failed")
    return answer.name === "NotFound" ? { kind: "missing" } : answer.failure;

  const thread = object(answer.json, "thread");
  const post = toRef(object(thread, "post"));
  if (post === undefined) return { kind: "missing" };
  const root = toRef(object(object(object(object(thread, "post"), "record"), "reply"), "root"));
  return {
    kind: "thread",
    post,
    root: root ?? post,
    replies: toList(replies.found),
    isComplete: replies.isComplete,
  };
}
