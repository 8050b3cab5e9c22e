import { queryText, requireAuth } from "#src/bluesky/endpoint.ts";
import type { XrpcCall, XrpcMethod } from "#src/bluesky/endpoint.ts";
import { refuse, refuseInput } from "#src/bluesky/errors.ts";
import { findActor } from "#src/bluesky/network.ts";
import type { BlueskyNetwork } from "#src/bluesky/network.ts";
import { viewOf } from "#src/bluesky/post-view.ts";
import { AT_URI, uriOf } from "#src/bluesky/records.ts";
import type { StoredRecord } from "#src/bluesky/records.ts";
import { threadView } from "#src/bluesky/thread-view.ts";
import type { Call, Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";

const MAX_URIS = 25;
const MAX_DEPTH = 1000;

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

/** Returns the Bluesky posts at the given URIs and leaves out posts that do not exist. */
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

function getPostThread(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  requireAuth(network, xrpc, "access");
  const uri = queryText(xrpc.call, "uri");
  const depth = Number(xrpc.call.query.get("depth") ?? "6");
  if (!Number.isInteger(depth) || depth < 0 || depth > MAX_DEPTH) {
    refuseInput(`Params/depth must be an integer from 0 to ${MAX_DEPTH}`);
  }
  const thread = AT_URI.test(uri)
    ? threadView(network, uri, { depth, asOf: xrpc.asOf })
    : refuseInput("Params/uri must be a valid at-uri");
  return thread === undefined
    ? refuse(400, "NotFound", `Post not found: ${uri}`)
    : { status: 200, body: { thread } };
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
  {
    nsid: "app.bsky.feed.getPostThread",
    kind: "query",
    operations: () => ["comments"],
    reads: true,
    handle: getPostThread,
  },
];
