import type { Missing, PlatformComment } from "#src/comments/connector.ts";
import { type JsonObject, list, number, object, text } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { COLLECTION } from "../publishing/xrpc.ts";
import { queryBluesky } from "../xrpc-result.ts";

/** A reference to one version of a Bluesky record. */
export interface StrongRef {
  readonly uri: string;
  readonly cid: string;
}

/** A direct reply to the account's post. */
export interface ThreadReply {
  readonly ref: StrongRef;
  readonly comment: Omit<PlatformComment, "hidden">;
}

/** The account's post with its direct replies. */
export interface Thread {
  readonly kind: "thread";
  readonly post: StrongRef;
  /** The first post of the thread: the post itself, unless the post is a reply. */
  readonly root: StrongRef;
  /** The replies, newest first; each record key occurs once. */
  readonly replies: readonly ThreadReply[];
}

/**
 * Maximum size in bytes of Bluesky's answer with a thread; more than 5,000 replies fit. A larger answer counts as no
 * answer. Bluesky answers with all direct replies at once, without a limit or pages (github.com/bluesky-social/atproto,
 * packages/bsky/src/data-plane/server/routes/threads.ts, read 2026-11-23).
 */
const MAX_THREAD_BYTES = 16 * 1024 * 1024;
const RECORD_KEY = /^(?!\.{1,2}$)[A-Za-z0-9._:~-]{1,512}$/;

export function recordKeyOf(uri: string): string {
  return uri.split("/").at(-1) ?? "";
}

function toRef(value: unknown): StrongRef | undefined {
  const uri = text(value, "uri");
  const cid = text(value, "cid");
  return uri === undefined || cid === undefined ? undefined : { uri, cid };
}

/**
 * Returns the time of a reply as Bluesky itself sorts by it: the author's time, but not later than the time at which
 * Bluesky saw the reply, because authors choose their time freely.
 */
function timeOf(post: JsonObject): Date | undefined {
  const times = [text(object(post, "record"), "createdAt"), text(post, "indexedAt")]
    .map((time) => Date.parse(time ?? ""))
    .filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

/** Parses a member of a thread; undefined for deleted replies and for replies of blocked authors. */
function toReply(member: unknown, account: AccountAccess): ThreadReply | undefined {
  const post = object(member, "post");
  const ref = toRef(post);
  const createdAt = post === undefined ? undefined : timeOf(post);
  if (post === undefined || ref === undefined || createdAt === undefined) return undefined;
  const author = object(post, "author");
  const comment = {
    id: recordKeyOf(ref.uri),
    text: text(object(post, "record"), "text") ?? "",
    authorId: text(author, "did") ?? null,
    authorUsername: text(author, "handle") ?? null,
    isOwn: text(author, "did") === account.externalId,
    createdAt,
    likeCount: number(post, "likeCount") ?? null,
    replyCount: number(post, "replyCount") ?? null,
  };
  return { ref, comment };
}

/**
 * Returns the position of a reply in the list of replies to a post: a text that sorts newer replies higher. The position of
 * the last reply on a page is the cursor of the next page.
 */
export function positionOf({ createdAt, id }: ThreadReply["comment"]): string {
  return `${String(Math.max(0, createdAt.getTime())).padStart(15, "0")}_${id}`;
}

/**
 * Sorts replies, newest first, and keeps one reply per record key, because Postrider identifies a comment by its record key
 * alone. Record keys contain microseconds and are unique unless an author copies one. The reply that Bluesky saw first
 * stays, so that a copy never takes the place of the original.
 */
function toList(members: readonly unknown[], account: AccountAccess): readonly ThreadReply[] {
  const seen = (member: unknown) => text(object(member, "post"), "indexedAt") ?? "";
  const oldestFirst = members.toSorted((one, other) => seen(one).localeCompare(seen(other)));
  const byKey = new Map<string, ThreadReply>();
  for (const reply of oldestFirst.map((member) => toReply(member, account))) {
    if (reply !== undefined && !byKey.has(reply.comment.id)) byKey.set(reply.comment.id, reply);
  }
  return [...byKey.values()].toSorted((one, other) =>
    positionOf(one.comment) < positionOf(other.comment) ? 1 : -1,
  );
}

/**
 * Reads a post of the account with its direct replies. The post's address names the account's own repository, so a post of
 * another account is never found.
 */
export async function readThread(
  baseUrl: string,
  account: AccountAccess,
  mediaId: string,
  signal: AbortSignal,
): Promise<Thread | Missing | Failure> {
  if (!RECORD_KEY.test(mediaId)) return { kind: "missing" };
  const uri = `at://${account.externalId}/${COLLECTION}/${mediaId}`;
  const parameters = new URLSearchParams({ uri, depth: "1", parentHeight: "0" });
  const method = "app.bsky.feed.getPostThread";
  const query = { method, parameters, maxAnswerBytes: MAX_THREAD_BYTES };
  const answer = await queryBluesky(baseUrl, account, query, signal);
  if (answer.kind === "failed") {
    return answer.name === "NotFound" ? { kind: "missing" } : answer.failure;
  }
  const thread = object(answer.json, "thread");
  const post = toRef(object(thread, "post"));
  if (post === undefined) return { kind: "missing" };
  const root = toRef(object(object(object(object(thread, "post"), "record"), "reply"), "root"));
  return {
    kind: "thread",
    post,
    root: root ?? post,
    replies: toList(list(thread, "replies"), account),
  };
}
