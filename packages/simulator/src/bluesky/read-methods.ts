import { queryText, requireAuth } from "#src/bluesky/endpoint.ts";
import type { XrpcCall, XrpcMethod } from "#src/bluesky/endpoint.ts";
import { refuse, refuseInput } from "#src/bluesky/errors.ts";
import { findActor } from "#src/bluesky/network.ts";
import type { BlueskyNetwork } from "#src/bluesky/network.ts";
import { POST_COLLECTION } from "#src/bluesky/post-record.ts";
import { uriOf } from "#src/bluesky/records.ts";
import type { StoredRecord } from "#src/bluesky/records.ts";
import type { Call, Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";

const MAX_URIS = 25;
const AT_URI = /^at:\/\/([^/]+)\/([^/]+)\/([^/]+)$/;

function requireRepo(network: BlueskyNetwork, call: Call): Account {
  const repo = queryText(call, "repo");
  return findActor(network, repo) ?? refuseInput(`Could not find repo: ${repo}`);
}

function recordView(record: StoredRecord): Record<string, unknown> {
  return { uri: uriOf(record), cid: record.cid, value: record.value };
}

function getRecord(network: BlueskyNetwork, { call, asOf }: XrpcCall): Reply {
  const { externalId: did } = requireRepo(network, call);
  const collection = queryText(call, "collection");
  const rkey = queryText(call, "rkey");
  const cid = call.query.get("cid");
  const record = network.records.find(did, collection, rkey, asOf);
  if (record === undefined || (cid !== null && cid !== record.cid)) {
    const uri = uriOf({ did, collection, rkey });
    return refuse(400, "RecordNotFound", `Could not locate record: ${uri}`);
  }
  return { status: 200, body: recordView(record) };
}

function limitOf(call: Call): number {
  const limit = Number(call.query.get("limit") ?? "50");
  return Number.isInteger(limit) && limit >= 1 && limit <= 100
    ? limit
    : refuseInput("Params/limit must be an integer from 1 to 100");
}

function listRecords(network: BlueskyNetwork, { call, asOf }: XrpcCall): Reply {
  const { externalId: did } = requireRepo(network, call);
  const collection = queryText(call, "collection");
  const limit = limitOf(call);
  const cursor = call.query.get("cursor");
  const oldestFirst = call.query.get("reverse") === "true";
  const newestFirst = network.records.list(did, collection, asOf);
  const ordered = oldestFirst ? newestFirst.toReversed() : newestFirst;
  const rest = ordered.filter(
    ({ rkey }) => cursor === null || (oldestFirst ? rkey > cursor : rkey < cursor),
  );
  const page = rest.slice(0, limit);
  const next = rest.length > page.length ? page.at(-1)?.rkey : undefined;
  return { status: 200, body: { records: page.map(recordView), cursor: next } };
}

function postView(network: BlueskyNetwork, author: Account, record: StoredRecord): unknown {
  const uri = uriOf(record);
  const metrics = network.world.reactions.metricsOf("bluesky", uri);
  return {
    uri,
    cid: record.cid,
    author: {
      did: author.externalId,
      handle: author.username,
      displayName: author.displayName,
      labels: [],
    },
    record: record.value,
    bookmarkCount: metrics.saves ?? 0,
    replyCount: metrics.comments ?? 0,
    repostCount: metrics.shares ?? 0,
    likeCount: metrics.likes ?? 0,
    quoteCount: 0,
    indexedAt: new Date(record.createdAt).toISOString(),
    labels: [],
  };
}

/** The view of a post's URI; nothing if it is deleted, or not indexed yet. */
function viewOf(network: BlueskyNetwork, uri: string, asOf: number): unknown[] {
  const [, authority = "", collection = "", rkey = ""] = AT_URI.exec(uri) ?? [];
  const author = findActor(network, authority);
  const record =
    author === undefined || collection !== POST_COLLECTION
      ? undefined
      : network.records.find(author.externalId, collection, rkey, asOf);
  return author === undefined || record === undefined ? [] : [postView(network, author, record)];
}

/** Posts that are missing are left out. */
function getPosts(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  requireAuth(network, xrpc, "access");
  const uris = xrpc.call.query.getAll("uris");
  if (uris.length === 0) {
    refuseInput('Params must have the property "uris"');
  }
  if (uris.length > MAX_URIS) {
    refuseInput(`array too big (maximum ${MAX_URIS}, got ${uris.length}) at $.uris`);
  }
  if (!uris.every((uri) => AT_URI.test(uri))) {
    refuseInput("Params/uris must be valid at-uris");
  }
  const posts = uris.flatMap((uri) => viewOf(network, uri, xrpc.asOf));
  return { status: 200, body: { posts } };
}

const REPO = "com.atproto.repo";

export const READ_METHODS: readonly XrpcMethod[] = [
  {
    nsid: `${REPO}.getRecord`,
    kind: "query",
    operations: () => ["status"],
    reads: true,
    handle: getRecord,
  },
  {
    nsid: `${REPO}.listRecords`,
    kind: "query",
    operations: () => ["status"],
    reads: true,
    handle: listRecords,
  },
  {
    nsid: "app.bsky.feed.getPosts",
    kind: "query",
    operations: () => ["metrics"],
    reads: true,
    handle: getPosts,
  },
];
