import { randomBytes } from "node:crypto";
import { refuse, refuseInput, statusError, xrpcError } from "#src/bluesky/errors.ts";
import {
  type BlueskyNetwork,
  createNetwork,
  findActor,
  inputOf,
  inputText,
  loginRules,
  queryText,
  requireAuth,
  serve,
  type XrpcCall,
  type XrpcMethod,
} from "#src/bluesky/network.ts";
import { atBothServers, didDocument, directoryRoute } from "#src/bluesky/other-pds.ts";
import { shownComments } from "#src/bluesky/post-view.ts";
import { getPosts, getPostThread, getRecord, listRecords } from "#src/bluesky/read-methods.ts";
import { didOf } from "#src/bluesky/records.ts";
import {
  getJobStatus,
  getServiceAuth,
  MAX_VIDEO_BYTES,
  uploadBlob,
  uploadVideo,
} from "#src/bluesky/upload-methods.ts";
import {
  createRecord,
  deleteRecord,
  putRecord,
  writeOperations,
} from "#src/bluesky/write-methods.ts";
import { bearerToken, type Call, jsonObject, type Reply } from "#src/http/call.ts";
import { type IssuedAccount, on, type Platform, toRoutes } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

function sessionBody(account: Account, call: Call): Record<string, unknown> {
  return {
    did: account.externalId,
    handle: account.username,
    didDoc: didDocument(account, call),
    active: true,
  };
}

function createSession(network: BlueskyNetwork, { call, now, spend }: XrpcCall): Reply {
  const input = inputOf(call);
  const account = findActor(network, inputText(input, "identifier"));
  const password = inputText(input, "password");
  if (account !== undefined) spend(loginRules(account.externalId));
  if (account === undefined || !network.sessions.isPassword(account.externalId, password))
    return refuse(401, "AuthenticationRequired", "Invalid identifier or password");
  const tokens = network.sessions.create(account.externalId, now);
  return { status: 200, body: { ...sessionBody(account, call), ...tokens } };
}

function refreshSession(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "refresh");
  const tokens = network.sessions.rotate(bearerToken(xrpc.call) ?? "", xrpc.now);
  return { status: 200, body: { ...sessionBody(account, xrpc.call), ...tokens } };
}

/**
 * An expired or revoked refresh token is accepted too, so that ending a session twice is not an
 * error.
 */
function deleteSession(network: BlueskyNetwork, { call }: XrpcCall): Reply {
  const token = bearerToken(call) ?? refuse(401, "AuthMissing", "Authentication Required");
  const session =
    network.sessions.sessionOf(token) ?? refuse(400, "InvalidToken", "Token could not be verified");
  network.sessions.end(session);
  return { status: 200, body: {} };
}

function getSession(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "access");
  return { status: 200, body: sessionBody(account, xrpc.call) };
}

function listAppPasswords(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "access");
  const createdAt = new Date(xrpc.now).toISOString();
  const names = network.sessions.passwordNames(account.externalId);
  return { status: 200, body: { passwords: names.map((name) => ({ name, createdAt })) } };
}

function revokeAppPassword(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "access");
  network.sessions.revokeAppPassword(account.externalId, inputText(inputOf(xrpc.call), "name"));
  return { status: 200, body: {} };
}

function resolveHandle(network: BlueskyNetwork, { call }: XrpcCall): Reply {
  const account = network.world.accounts.byUsername("bluesky", queryText(call, "handle"));
  return account === undefined
    ? refuseInput("Unable to resolve handle")
    : { status: 200, body: { did: account.externalId } };
}

const SERVER = "/xrpc/com.atproto.server";
const REPO = "/xrpc/com.atproto.repo";

const METHODS: readonly XrpcMethod[] = [
  on(`POST ${SERVER}.createSession`, ["login"], createSession),
  on(`POST ${SERVER}.refreshSession`, ["refresh"], refreshSession),
  on(`POST ${SERVER}.deleteSession`, ["revoke"], deleteSession),
  on(`GET ${SERVER}.getSession`, ["account"], getSession),
  on(`GET ${SERVER}.listAppPasswords`, ["account"], listAppPasswords),
  on(`POST ${SERVER}.revokeAppPassword`, ["revoke"], revokeAppPassword),
  on(`GET ${SERVER}.getServiceAuth`, ["other"], getServiceAuth),
  on("GET /xrpc/com.atproto.identity.resolveHandle", ["account"], resolveHandle),
  on(`POST ${REPO}.putRecord`, writeOperations, putRecord),
  on(`POST ${REPO}.createRecord`, writeOperations, createRecord),
  on(`POST ${REPO}.deleteRecord`, ["delete"], deleteRecord),
  on(`GET ${REPO}.getRecord`, ["status"], getRecord),
  on(`GET ${REPO}.listRecords`, ["status"], listRecords),
  on(`POST ${REPO}.uploadBlob`, ["upload"], uploadBlob),
  on("GET /xrpc/app.bsky.feed.getPosts", ["metrics"], getPosts),
  on("GET /xrpc/app.bsky.feed.getPostThread", ["comments"], getPostThread),
  on("POST /xrpc/app.bsky.video.uploadVideo", ["upload"], uploadVideo),
  on("GET /xrpc/app.bsky.video.getJobStatus", ["status"], getJobStatus),
];

const DEFAULT_DOMAIN = "bsky.social";
const NAME = /^[a-z0-9](?:[a-z0-9-]{1,16}[a-z0-9])$/i;
const HANDLE = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const MAX_HANDLE = 253;
const DID_BYTES = 24;
const SIMULATED_WAIT_SECONDS = 1;

function handleOf(username: string): string {
  const lower = username.toLowerCase();
  return lower.includes(".") ? lower : `${lower}.${DEFAULT_DOMAIN}`;
}

function usernameFault(username: string): string | undefined {
  if (!username.includes("."))
    return NAME.test(username)
      ? undefined
      : "use 3 to 18 letters, digits and hyphens, without a hyphen at either end";

  return HANDLE.test(username) && username.length <= MAX_HANDLE
    ? undefined
    : "a handle with a dot must be a domain name";
}

function issueAccount({ world, sessions }: BlueskyNetwork, username?: string): IssuedAccount {
  const handle = username === undefined ? undefined : handleOf(username);
  const account = world.accounts.ensure("bluesky", handle, {
    nameOf: (words, number) => handleOf(`${words.join("")}${number}`),
    newId: () => didOf(randomBytes(DID_BYTES)),
  });
  const appPassword = sessions.issueAppPassword(account.externalId);
  return { account, credentials: { identifier: account.username, appPassword } };
}

function ownerOf({ sessions, serviceTokens }: BlueskyNetwork, token: string): string {
  return sessions.ownerOf(token) ?? serviceTokens.find(token)?.did ?? "";
}

function namedAccount({ videoJobs }: BlueskyNetwork, call: Call): unknown {
  const { path, query } = call;
  if (path.endsWith(".createSession")) return jsonObject(call)?.["identifier"];
  return query.get("repo") ?? videoJobs.find(query.get("jobId") ?? "")?.did;
}

function accountOf(network: BlueskyNetwork, call: Call): Account | undefined {
  const token = bearerToken(call);
  const named = token === undefined ? namedAccount(network, call) : ownerOf(network, token);
  return typeof named === "string" ? findActor(network, named) : undefined;
}

function errorReply(status: number): Reply {
  const reply = statusError(status);
  return status === 429
    ? { ...reply, headers: { "retry-after": String(SIMULATED_WAIT_SECONDS) } }
    : reply;
}

function refusal(operation: string): Reply {
  switch (operation) {
    case "upload":
      return statusError(413);
    case "refresh":
      return xrpcError(400, "ExpiredToken", "Token has been revoked");
    case "login":
      return xrpcError(401, "AuthenticationRequired", "Invalid identifier or password");
    default:
      return xrpcError(400, "InvalidRequest", "Invalid app.bsky.feed.post record: refused at $");
  }
}

/**
 * The simulated Bluesky: two servers (PDS), the AppView to which they forward calls that read
 * posts, the video service and the directory of DIDs.
 */
export function createBluesky(world: World): Platform {
  const network = createNetwork(world);
  return {
    id: "bluesky",
    maxBodyBytes: MAX_VIDEO_BYTES,
    routes: [
      ...atBothServers(toRoutes(network, METHODS, serve), (call) => accountOf(network, call)),
      directoryRoute(network),
    ],
    usernameFault,
    issueAccount: (username) => issueAccount(network, username),
    accountOf: (call) => accountOf(network, call),
    errorReply,
    refusal,
    notFound: () => statusError(501),
    newCommentId: (now) => network.tids.next(now),
    commentsOf: (account) => shownComments(network, account),
  };
}
