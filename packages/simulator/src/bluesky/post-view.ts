import { type BlueskyNetwork, findActor } from "#src/bluesky/network.ts";
import { POST_COLLECTION } from "#src/bluesky/post-record.ts";
import { AT_URI, commentUri, type StoredRecord, uriOf } from "#src/bluesky/records.ts";
import { THREADGATE_COLLECTION } from "#src/bluesky/write-methods.ts";
import type { ShownComment } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { existsAt } from "#src/world/posts.ts";
import type { MetricValues } from "#src/world/reactions.ts";

interface ViewedPost {
  readonly uri: string;
  readonly cid: string;
  readonly author: { readonly did: string; readonly handle: string; readonly displayName: string };
  readonly record: unknown;
  readonly indexedAt: number;
  readonly metrics: MetricValues;
}

export function postView({ uri, cid, author, record, indexedAt, metrics }: ViewedPost): unknown {
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

export interface FoundPost {
  readonly account: Account;
  readonly record: StoredRecord;
}

export function findPost(
  network: BlueskyNetwork,
  uri: string,
  asOf: number,
): FoundPost | undefined {
  const [, authority = "", collection = "", rkey = ""] = AT_URI.exec(uri) ?? [];
  const account = collection === POST_COLLECTION ? findActor(network, authority) : undefined;
  const record =
    account === undefined
      ? undefined
      : network.records.find(account.externalId, collection, rkey, asOf);
  return account === undefined || record === undefined ? undefined : { account, record };
}

/** With `replyCount` replies unless a test has set another number. */
export function recordPostView(
  network: BlueskyNetwork,
  { account, record }: FoundPost,
  { replyCount, asOf }: { readonly replyCount: number; readonly asOf: number },
): unknown {
  const { externalId: did, username: handle, displayName } = account;
  const uri = uriOf(record);
  return postView({
    uri,
    cid: record.cid,
    author: { did, handle, displayName },
    record: record.value,
    indexedAt: record.createdAt,
    metrics: {
      comments: replyCount,
      ...network.world.reactions.metricsAt("bluesky", record.rkey, asOf),
    },
  });
}

export function viewOf(network: BlueskyNetwork, uri: string, asOf: number): unknown[] {
  const found = findPost(network, uri, asOf);
  return found === undefined ? [] : [recordPostView(network, found, { replyCount: 0, asOf })];
}

function hiddenReplies(network: BlueskyNetwork, account: Account, now: number): Set<unknown> {
  const gates = network.records.list(account.externalId, THREADGATE_COLLECTION, now);
  return new Set(gates.flatMap(({ value }) => value["hiddenReplies"] ?? []));
}

/** The id of every post or comment is a record key here. */
export function shownComments(network: BlueskyNetwork, account: Account): readonly ShownComment[] {
  const { clock, posts, reactions } = network.world;
  const now = clock.now();
  const hidden = hiddenReplies(network, account, now);
  const own = [...posts.newestFirst(account)].filter((post) => existsAt(post, now));
  const comments = own.flatMap(({ id }) =>
    reactions.commentsOn("bluesky", id).map((comment): ShownComment => {
      const { mediaId, author, text, createdAt } = comment;
      const isHidden = hidden.has(commentUri(comment));
      return { id: comment.id, mediaId, author, text, hidden: isHidden, createdAt };
    }),
  );
  const replies = own.flatMap(({ id, text, createdAt, replyTo }): ShownComment[] => {
    const mediaId = AT_URI.exec(replyTo ?? "")?.[3];
    const uri = uriOf({ did: account.externalId, collection: POST_COLLECTION, rkey: id });
    return mediaId === undefined
      ? []
      : [{ id, mediaId, author: account.username, text, hidden: hidden.has(uri), createdAt }];
  });
  return [...comments, ...replies];
}
