import { refuse, refuseInput } from "#src/bluesky/errors.ts";
import {
  type BlueskyNetwork,
  findActor,
  inputOf,
  inputText,
  loginRules,
  queryText,
  requireAuth,
  type XrpcCall,
} from "#src/bluesky/network.ts";
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

export function createSession(network: BlueskyNetwork, { call, now, spend }: XrpcCall): Reply {
  const input = inputOf(call);
  const account = findActor(network, inputText(input, "identifier"));
  const password = inputText(input, "password");
  if (account !== undefined) spend(loginRules(account.externalId));
  if (account === undefined || !network.sessions.isPassword(account.externalId, password))
    return refuse(401, "AuthenticationRequired", "Invalid identifier or password");
  const tokens = network.sessions.create(account.externalId, now);
  return { status: 200, body: { ...sessionBody(account, call), ...tokens } };
}

export function refreshSession(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "refresh");
  const tokens = network.sessions.rotate(bearerToken(xrpc.call) ?? "", xrpc.now);
  return { status: 200, body: { ...sessionBody(account, xrpc.call), ...tokens } };
}

/**
 * An expired or revoked refresh token is accepted too, so that ending a session twice is not an
 * error.
 */
export function deleteSession(network: BlueskyNetwork, { call }: XrpcCall): Reply {
  const token = bearerToken(call) ?? refuse(401, "AuthMissing", "Authentication Required");
  const session =
    network.sessions.sessionOf(token) ?? refuse(400, "InvalidToken", "Token could not be verified");
  network.sessions.end(session);
  return { status: 200, body: {} };
}

export function getSession(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "access");
  return { status: 200, body: sessionBody(account, xrpc.call) };
}

export function listAppPasswords(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "access");
  const createdAt = new Date(xrpc.now).toISOString();
  const names = network.sessions.passwordNames(account.externalId);
  return { status: 200, body: { passwords: names.map((name) => ({ name, createdAt })) } };
}

export function revokeAppPassword(network: BlueskyNetwork, xrpc: XrpcCall): Reply {
  const { account } = requireAuth(network, xrpc, "access");
  network.sessions.revokeAppPassword(account.externalId, inputText(inputOf(xrpc.call), "name"));
  return { status: 200, body: {} };
}

export function resolveHandle(network: BlueskyNetwork, { call }: XrpcCall): Reply {
  const account = network.world.accounts.byUsername("bluesky", queryText(call, "handle"));
  return account === undefined
    ? refuseInput("Unable to resolve handle")
    : { status: 200, body: { did: account.externalId } };
}
