import { POST_COLLECTION } from "#src/bluesky/lexicon-checks.ts";
import { type BlueskyNetwork, findActor } from "#src/bluesky/network.ts";
import { AT_URI, type StoredRecord, uriOf } from "#src/bluesky/records.ts";
import type { Account } from "#src/world/accounts.ts";
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
