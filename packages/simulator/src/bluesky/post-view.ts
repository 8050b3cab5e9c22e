import { cidOf } from "#src/bluesky/cid.ts";
import { POST_COLLECTION } from "#src/bluesky/lexicon-checks.ts";
import { findActor } from "#src/bluesky/network.ts";
import type { BlueskyNetwork } from "#src/bluesky/network.ts";
import { uriOf } from "#src/bluesky/records.ts";
import type { StoredRecord } from "#src/bluesky/records.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Comment, MetricValues } from "#src/world/reactions.ts";

/**
 * Matches an AT URI. The groups of the match are the authority, the collection and the record key.
 */
export const AT_URI = /^at:\/\/([^/]+)\/([^/]+)\/([^/]+)$/;

const THREAD_VIEW = "app.bsky.feed.defs#threadViewPost";

interface ViewedPost {
  readonly uri: string;
  readonly cid: string;
  readonly author: { readonly did: string; readonly handle: string; readonly displayName: string };
  readonly record: unknown;
  readonly indexedAt: number;
  readonly metrics: MetricValues;
}

function postView({ uri, cid, author, record, indexedAt, metrics }: ViewedPost): unknown {
  return {
    uri,
    cid,
    author: { ...author, labels: [] },
    record,
    bookmarkCount: metrics.saves ?? 0,
    replyCount: metrics.comments ?? 0,
    repostCount: metrics.shares ?? 0,
    likeCount: metrics.likes ?? 0,
    quoteCount: 0,
    indexedAt: new Date(indexedAt).toISOString(),
    labels: [],
  };
}

interface FoundPost {
  readonly account: Account;
  readonly record: StoredRecord;
}

function findPost(network: BlueskyNetwork, uri: string, asOf: number): FoundPost | undefined {
  const [, authority = "", collection = "", rkey = ""] = AT_URI.exec(uri) ?? [];
  const account = collection === POST_COLLECTION ? findActor(network, authority) : undefined;
  const record =
    account === undefined
      ? undefined
      : network.records.find(account.externalId, collection, rkey, asOf);
  return account === undefined || record === undefined ? undefined : { account, record };
}

function recordPostView(network: BlueskyNetwork, { account, record }: FoundPost): unknown {
  const { externalId: did, username: handle, displayName } = account;
  const uri = uriOf(record);
  return postView({
    uri,
    cid: record.cid,
    author: { did, handle, displayName },
    record: record.value,
    indexedAt: record.createdAt,
    metrics: network.world.reactions.metricsOf("bluesky", record.rkey),
  });
}

/** The view of the Bluesky post at a URI; empty when the post is deleted or not indexed yet. */
export function viewOf(network: BlueskyNetwork, uri: string, asOf: number): unknown[] {
  const found = findPost(network, uri, asOf);
  return found === undefined ? [] : [recordPostView(network, found)];
}

/**
 * A reader's comment as a reply in a Bluesky thread. The author's DID comes from the comment's id.
 */
function commentView({ id, author, text, createdAt }: Comment, root: StoredRecord): unknown {
  const parent = { uri: uriOf(root), cid: root.cid };
  const record = {
    $type: POST_COLLECTION,
    text,
    createdAt: new Date(createdAt).toISOString(),
    reply: { root: parent, parent },
  };
  const did = AT_URI.exec(id)?.[1] ?? "";
  const handle = author.includes(".") ? author : `${author}.bsky.social`;
  return {
    $type: THREAD_VIEW,
    post: postView({
      uri: id,
      cid: cidOf(record),
      author: { did, handle, displayName: author },
      record,
      indexedAt: createdAt,
      metrics: {},
    }),
    replies: [],
  };
}

/**
 * A Bluesky post with its comments, newest first; undefined when the post does not exist at the
 * instant `asOf`.
 */
export function threadView(network: BlueskyNetwork, uri: string, asOf: number): unknown {
  const found = findPost(network, uri, asOf);
  if (found === undefined) {
    return undefined;
  }
  const comments = network.world.reactions
    .commentsOn("bluesky", found.record.rkey)
    .filter((comment) => comment.createdAt <= asOf)
    .reverse();
  return {
    $type: THREAD_VIEW,
    post: recordPostView(network, found),
    replies: comments.map((comment) => commentView(comment, found.record)),
  };
}
