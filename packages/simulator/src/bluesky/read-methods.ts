import { refuse, refuseInput } from "#src/bluesky/errors.ts";
import { cidOf } from "#src/bluesky/ids.ts";
import {
  type BlueskyNetwork,
  findActor,
  queryText,
  requireAuth,
  type XrpcCall,
} from "#src/bluesky/network.ts";
import { POST_COLLECTION } from "#src/bluesky/post-record.ts";
import {
  findPost,
  type FoundPost,
  postView,
  recordPostView,
  viewOf,
} from "#src/bluesky/post-view.ts";
import { AT_URI, commentUri, readerDid, type StoredRecord, uriOf } from "#src/bluesky/records.ts";
import type { Call, Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import { existsAt } from "#src/world/posts.ts";
import type { Comment } from "#src/world/reactions.ts";

const THREAD_VIEW = "app.bsky.feed.defs#threadViewPost";

interface Member {
  readonly createdAt: number;
  readonly view: unknown;
}

function commentMember(comment: Comment, root: StoredRecord, replyCount: number): Member {
  const { author, text, createdAt } = comment;
  const parent = { uri: uriOf(root), cid: root.cid };
  const record = {
    $type: POST_COLLECTION,
    text,
    createdAt: new Date(createdAt).toISOString(),
    reply: { root: parent, parent },
  };
  const handle = author.includes(".") ? author : `${author}.bsky.social`;
  const post = postView({
    uri: commentUri(comment),
    cid: cidOf(record),
    author: { did: readerDid(author), handle, displayName: author },
    record,
    indexedAt: createdAt,
    metrics: { comments: replyCount },
  });
  return { createdAt, view: { $type: THREAD_VIEW, post, replies: [] } };
}

/** By the URI of the post or comment that they answer. */
function ownReplies(
  network: BlueskyNetwork,
  { account }: FoundPost,
  asOf: number,
): Map<string, FoundPost[]> {
  const byParent = new Map<string, FoundPost[]>();
  for (const post of network.world.posts.newestFirst(account)) {
    const uri = uriOf({ did: account.externalId, collection: POST_COLLECTION, rkey: post.id });
    const found =
      post.replyTo !== undefined && existsAt(post, asOf) ? findPost(network, uri, asOf) : undefined;
    if (post.replyTo !== undefined && found !== undefined)
      byParent.set(post.replyTo, [...(byParent.get(post.replyTo) ?? []), found]);
  }
  return byParent;
}

function membersOf(network: BlueskyNetwork, found: FoundPost, asOf: number): Member[] {
  const replies = ownReplies(network, found, asOf);
  const countOf = (uri: string) => replies.get(uri)?.length ?? 0;
  const comments = network.world.reactions
    .commentsOn("bluesky", found.record.rkey)
    .filter((comment) => comment.createdAt <= asOf)
    .map((comment) => commentMember(comment, found.record, countOf(commentUri(comment))));
  const own = (replies.get(uriOf(found.record)) ?? []).map((reply): Member => {
    const post = recordPostView(network, reply, {
      replyCount: countOf(uriOf(reply.record)),
      asOf,
    });
    const { createdAt } = reply.record;
    return { createdAt, view: { $type: THREAD_VIEW, post, replies: [] } };
  });
  return [...comments, ...own].toSorted((one, other) => other.createdAt - one.createdAt);
}

/** Replies to replies are not simulated. */
function threadView(
  network: BlueskyNetwork,
  uri: string,
  { depth, asOf }: { readonly depth: number; readonly asOf: number },
): unknown {
  const found = findPost(network, uri, asOf);
  if (found === undefined) return undefined;
  const members = membersOf(network, found, asOf);
  const post = recordPostView(network, found, { replyCount: members.length, asOf });
  const replies = depth === 0 ? {} : { replies: members.map(({ view }) => view) };
  return { $type: THREAD_VIEW, post, ...replies };
}

const MAX_URIS = 25;
const MAX_DEPTH = 1000;

function requireRepo(network: BlueskyNetwork, call: Call): Account {
  const repo = queryText(call, "repo");
  return findActor(network, repo) ?? refuseInput(`Could not find repo: ${repo}`);
}

function recordView(record: StoredRecord): Record<string, unknown> {
  return { uri: uriOf(record), cid: record.cid, value: record.value };
}

export function getRecord(network: BlueskyNetwork, { call, asOf }: XrpcCall): Reply {
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

export function listRecords(network: BlueskyNetwork, { call, asOf }: XrpcCall): Reply {
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

export function getPosts(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  requireAuth(network, xrpc, "access");
  const uris = xrpc.call.query.getAll("uris");
  if (uris.length === 0) refuseInput('Params must have the property "uris"');
  if (uris.length > MAX_URIS)
    refuseInput(`array too big (maximum ${MAX_URIS}, got ${uris.length}) at $.uris`);
  if (!uris.every((uri) => AT_URI.test(uri))) refuseInput("Params/uris must be valid at-uris");
  const posts = uris.flatMap((uri) => viewOf(network, uri, xrpc.asOf));
  return { status: 200, body: { posts } };
}

export function getPostThread(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  requireAuth(network, xrpc, "access");
  const uri = queryText(xrpc.call, "uri");
  const depth = Number(xrpc.call.query.get("depth") ?? "6");
  if (!Number.isInteger(depth) || depth < 0 || depth > MAX_DEPTH)
    refuseInput(`Params/depth must be an integer from 0 to ${MAX_DEPTH}`);
  const thread = AT_URI.test(uri)
    ? threadView(network, uri, { depth, asOf: xrpc.asOf })
    : refuseInput("Params/uri must be a valid at-uri");
  return thread === undefined
    ? refuse(400, "NotFound", `Post not found: ${uri}`)
    : { status: 200, body: { thread } };
}
