import {
  inputOf,
  inputText,
  loginRules,
  queryText,
  requireAuth,
  type XrpcCall,
  type XrpcMethod,
} from "#src/bluesky/endpoint.ts";
import { refuse, refuseInput } from "#src/bluesky/errors.ts";
import { type BlueskyNetwork, findActor } from "#src/bluesky/network.ts";
import { didDocument } from "#src/bluesky/other-pds.ts";
import { bearerToken, type Call, type Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";

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

const SERVER = "com.atproto.server";

export const SESSION_METHODS: readonly XrpcMethod[] = [
  {
    nsid: `${SERVER}.createSession`,
    kind: "procedure",
    operations: () => ["login"],
    handle: createSession,
  },
  {
    nsid: `${SERVER}.refreshSession`,
    kind: "procedure",
    operations: () => ["refresh"],
    handle: refreshSession,
  },
  {
    nsid: `${SERVER}.deleteSession`,
    kind: "procedure",
    operations: () => ["revoke"],
    handle: deleteSession,
  },
  {
    nsid: `${SERVER}.getSession`,
    kind: "query",
    operations: () => ["account"],
    handle: getSession,
  },
  {
    nsid: `${SERVER}.listAppPasswords`,
    kind: "query",
    operations: () => ["account"],
    handle: listAppPasswords,
  },
  {
    nsid: `${SERVER}.revokeAppPassword`,
    kind: "procedure",
    operations: () => ["revoke"],
    handle: revokeAppPassword,
  },
  {
    nsid: "com.atproto.identity.resolveHandle",
    kind: "query",
    operations: () => ["account"],
    handle: resolveHandle,
  },
];
