import { refuse, refuseInput, statusError } from "#src/bluesky/errors.ts";
import { cidOf, isTid } from "#src/bluesky/ids.ts";
import {
  type BlueskyNetwork,
  findActor,
  inputOf,
  inputText,
  pointRules,
  requireAuth,
  type XrpcCall,
} from "#src/bluesky/network.ts";
import {
  blobRefsOf,
  checkList,
  checkPostRecord,
  invalid,
  POST_COLLECTION,
} from "#src/bluesky/post-record.ts";
import { AT_URI, findComment, type StoredRecord, uriOf } from "#src/bluesky/records.ts";
import { type Call, isRecord, jsonObject, type Reply } from "#src/http/call.ts";
import type { Operations } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { PostedMedia } from "#src/world/posts.ts";

export const THREADGATE_COLLECTION = "app.bsky.feed.threadgate";

const MAX_RULES = 5;
const MAX_HIDDEN_REPLIES = 300;

function checkThreadgate(value: Readonly<Record<string, unknown>>): void {
  const { post, createdAt, allow, hiddenReplies } = value;
  if (typeof post !== "string" || !AT_URI.test(post))
    invalid("expected an at-uri", "post", THREADGATE_COLLECTION);
  if (typeof createdAt !== "string" || Number.isNaN(Date.parse(createdAt)))
    invalid("expected a datetime", "createdAt", THREADGATE_COLLECTION);
  checkList(allow, "allow", MAX_RULES, THREADGATE_COLLECTION);
  checkList(hiddenReplies, "hiddenReplies", MAX_HIDDEN_REPLIES, THREADGATE_COLLECTION);
}

/**
 * `reply` only for a reply to a reader's comment; a reply to the account's own post is a `publish`.
 */
export function writeOperations(call: Call, { world }: BlueskyNetwork): Operations {
  const input = jsonObject(call) ?? {};
  if (input["collection"] === THREADGATE_COLLECTION) return ["hide"];
  if (input["collection"] !== POST_COLLECTION) return ["other"];
  const reply = isRecord(input["record"]) ? input["record"]["reply"] : undefined;
  const parent = isRecord(reply) && isRecord(reply["parent"]) ? reply["parent"]["uri"] : undefined;
  const answersReader =
    typeof parent === "string" && findComment(world.reactions, parent) !== undefined;
  return answersReader ? ["reply"] : ["publish", "create"];
}

const NSID = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+\.[a-zA-Z][a-zA-Z0-9]*$/;
const RECORD_KEY = /^(?!\.{1,2}$)[A-Za-z0-9._:~-]{1,512}$/;
const CREATE_POINTS = 3;
const UPDATE_POINTS = 2;
const DELETE_POINTS = 1;

interface OwnCollection {
  readonly account: Account;
  readonly collection: string;
}

function requireOwnCollection(
  network: BlueskyNetwork,
  xrpc: XrpcCall,
  input: Record<string, unknown>,
): OwnCollection {
  const { account } = requireAuth(network, xrpc, "access");
  const repo = inputText(input, "repo");
  const collection = inputText(input, "collection");
  if (findActor(network, repo)?.externalId !== account.externalId)
    return refuse(401, "AuthenticationRequired", "Authentication Required");
  if (!NSID.test(collection)) return refuseInput("Input/collection must be a valid nsid");
  return { account, collection };
}

function checkedKey(collection: string, rkey: string): string {
  if (!RECORD_KEY.test(rkey)) return refuseInput("Input/rkey must be a valid Record Key");
  const needsTid = [POST_COLLECTION, THREADGATE_COLLECTION].includes(collection);
  return needsTid && !isTid(rkey)
    ? refuseInput(`Invalid TID string (got "${rkey}") at $.rkey`)
    : rkey;
}

function checkedValue(input: Record<string, unknown>, collection: string): Record<string, unknown> {
  const record = input["record"];
  if (!isRecord(record)) return refuseInput('Input must have the property "record"');
  const value: Record<string, unknown> = { $type: collection, ...record };
  if (value["$type"] !== collection)
    return refuseInput(`Invalid $type: expected ${collection}, got ${String(value["$type"])}`);
  if (collection === POST_COLLECTION) checkPostRecord(value);
  if (collection === THREADGATE_COLLECTION) checkThreadgate(value);
  return value;
}

/**
 * `swapRecord: null` requires that there is no stored record; a call without it requires nothing.
 */
function checkSwap(input: Record<string, unknown>, current: StoredRecord | undefined): void {
  const expected = input["swapRecord"];
  if (expected !== undefined && expected !== (current?.cid ?? null))
    refuse(400, "InvalidSwap", `Record was at ${current?.cid ?? "null"}`);
}

function commitOf(network: BlueskyNetwork, uri: string, cid: string, now: number): unknown {
  const rev = network.tids.next(now);
  return { cid: cidOf({ uri, cid, rev }), rev };
}

/** Also for a post that is created again after its deletion. */
function showPost(
  network: BlueskyNetwork,
  account: Account,
  record: StoredRecord,
  media: readonly PostedMedia[],
): void {
  const { posts } = network.world;
  const id = record.rkey;
  const { text, reply, langs } = record.value;
  const parent = isRecord(reply) && isRecord(reply["parent"]) ? reply["parent"]["uri"] : undefined;
  const shown = {
    text: String(text),
    media,
    createdAt: record.createdAt,
    replyTo: typeof parent === "string" ? parent : undefined,
    options: langs === undefined ? undefined : { langs },
  };
  const before = posts.get(account, id);
  if (before === undefined) {
    const owner = account.externalId;
    posts.add({ platform: "bluesky", account: owner, id, ...shown });
  } else posts.change(posts.countCall(before), { ...shown, deletedAt: null });
}

function write(
  network: BlueskyNetwork,
  target: OwnCollection,
  rkey: string,
  xrpc: XrpcCall,
  value: Record<string, unknown>,
): Reply {
  const { account, collection } = target;
  const { now } = xrpc;
  const did = account.externalId;
  const current = network.records.find(did, collection, rkey, now);
  const cid = cidOf(value);
  const createdAt = current?.createdAt ?? now;
  const record = { did, collection, rkey, cid, value, createdAt, deletedAt: null };
  const isPost = collection === POST_COLLECTION;
  const media = isPost ? network.blobs.use(did, blobRefsOf(value), now) : [];
  network.records.put(record);
  if (isPost) showPost(network, account, record, media);
  const uri = uriOf(record);
  const validationStatus = collection.startsWith("app.bsky.") ? "valid" : "unknown";
  const commit = commitOf(network, uri, cid, now);
  return { status: 200, body: { uri, cid, commit, validationStatus } };
}

export function putRecord(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const input = inputOf(xrpc.call);
  const target = requireOwnCollection(network, xrpc, input);
  const { account, collection } = target;
  const rkey = checkedKey(collection, inputText(input, "rkey"));
  const value = checkedValue(input, collection);
  const current = network.records.find(account.externalId, collection, rkey, xrpc.now);
  xrpc.spend(pointRules(account.externalId, current === undefined ? CREATE_POINTS : UPDATE_POINTS));
  if (current !== undefined && current.cid === cidOf(value)) {
    // Writing a Bluesky record that is identical to the stored record creates no commit, whatever
    // value `swapRecord` has.
    countRepeat(network, account, current);
    const { cid } = current;
    return { status: 200, body: { uri: uriOf(current), cid, validationStatus: "valid" } };
  }
  checkSwap(input, current);
  return write(network, target, rkey, xrpc, value);
}

function countRepeat(network: BlueskyNetwork, account: Account, record: StoredRecord): void {
  const post = network.world.posts.get(account, record.rkey);
  if (post !== undefined) network.world.posts.countCall(post);
}

export function createRecord(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const input = inputOf(xrpc.call);
  const target = requireOwnCollection(network, xrpc, input);
  const { account, collection } = target;
  const chosen = input["rkey"] === undefined ? undefined : inputText(input, "rkey");
  const rkey = chosen === undefined ? network.tids.next(xrpc.now) : checkedKey(collection, chosen);
  const value = checkedValue(input, collection);
  xrpc.spend(pointRules(account.externalId, CREATE_POINTS));
  if (network.records.find(account.externalId, collection, rkey, xrpc.now) !== undefined)
    return statusError(500);
  return write(network, target, rkey, xrpc, value);
}

export function deleteRecord(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const input = inputOf(xrpc.call);
  const { account, collection } = requireOwnCollection(network, xrpc, input);
  const rkey = inputText(input, "rkey");
  const { now } = xrpc;
  xrpc.spend(pointRules(account.externalId, DELETE_POINTS));
  const current = network.records.find(account.externalId, collection, rkey, now);
  checkSwap(input, current);
  if (current === undefined) return { status: 200, body: {} };
  network.records.put({ ...current, deletedAt: now });
  const post = network.world.posts.get(account, current.rkey);
  if (post !== undefined) network.world.posts.change(post, { deletedAt: now });
  return { status: 200, body: { commit: commitOf(network, uriOf(current), current.cid, now) } };
}
