import { randomBytes } from "node:crypto";
import { BLOB_METHODS } from "#src/bluesky/blob-methods.ts";
import { toRoute } from "#src/bluesky/endpoint.ts";
import { statusError, xrpcError } from "#src/bluesky/errors.ts";
import { type BlueskyNetwork, createNetwork, findActor } from "#src/bluesky/network.ts";
import { atBothServers, directoryRoute } from "#src/bluesky/other-pds.ts";
import { READ_METHODS } from "#src/bluesky/read-methods.ts";
import { didOf } from "#src/bluesky/readers.ts";
import { SESSION_METHODS } from "#src/bluesky/session-methods.ts";
import { shownComments } from "#src/bluesky/shown-comments.ts";
import { MAX_VIDEO_BYTES, VIDEO_METHODS } from "#src/bluesky/video-methods.ts";
import { WRITE_METHODS } from "#src/bluesky/write-methods.ts";
import { bearerToken, type Call, jsonObject, type Reply } from "#src/http/call.ts";
import type { IssuedAccount, Platform } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { inventName } from "#src/world/names.ts";
import type { World } from "#src/world/world.ts";

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

function issueAccount(network: BlueskyNetwork, username: string | undefined): IssuedAccount {
  const { accounts } = network.world;
  const nameOf = (words: readonly string[], number: number) =>
    handleOf(`${words.join("")}${number}`);
  const invented = inventName(
    ({ words, number }) => accounts.byUsername("bluesky", nameOf(words, number)) !== undefined,
  );
  const handle =
    username === undefined ? nameOf(invented.words, invented.number) : handleOf(username);
  const account =
    accounts.byUsername("bluesky", handle) ??
    accounts.add({
      platform: "bluesky",
      externalId: didOf(randomBytes(DID_BYTES)),
      username: handle,
      displayName: invented.displayName,
    });
  const appPassword = network.sessions.issueAppPassword(account.externalId);
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
  const methods = [
    ...SESSION_METHODS,
    ...WRITE_METHODS,
    ...READ_METHODS,
    ...BLOB_METHODS,
    ...VIDEO_METHODS,
  ];
  return {
    id: "bluesky",
    maxBodyBytes: MAX_VIDEO_BYTES,
    routes: [
      ...atBothServers(
        methods.map((method) => toRoute(network, method)),
        (call) => accountOf(network, call),
      ),
      directoryRoute(network),
    ],
    usernameFault,
    issueAccount: (username) => issueAccount(network, username),
    accountOf: (call) => accountOf(network, call),
    loggedPath: (path) => path,
    errorReply,
    refusal,
    notFound: () => statusError(501),
    newCommentId: (now) => network.tids.next(now),
    commentsOf: (account) => shownComments(network, account),
  };
}
